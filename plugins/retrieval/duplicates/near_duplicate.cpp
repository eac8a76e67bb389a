#include "plugins/retrieval/duplicates/near_duplicate.hpp"

#include <algorithm>

#include "plugins/files/digest.hpp"
#include "plugins/retrieval/duplicates/normal_form.hpp"

namespace krl::retrieval {
namespace {

bool have_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& kernel) {
    return std::binary_search(b.begin(), b.end(), kernel);
  });
}

}  // namespace

TextIdentity identity_of(std::string_view text) {
  const NormalForm form = normal_form(text);
  TextIdentity identity;
  identity.hash = files::sha256_hex(text);
  if (!form.whole.empty()) identity.source = files::sha256_hex(form.whole);
  for (const std::string& kernel : form.kernels) {
    identity.kernels.push_back(files::sha256_hex(kernel));
  }
  std::sort(identity.kernels.begin(), identity.kernels.end());
  return identity;
}

std::optional<Likeness> likeness(const TextIdentity& a, const TextIdentity& b) {
  if (a.hash == b.hash) return Likeness::kSameText;
  if (!a.source.empty() && a.source == b.source) return Likeness::kSameSource;
  if (have_common(a.kernels, b.kernels)) return Likeness::kSameKernel;
  return std::nullopt;
}

}  // namespace krl::retrieval
