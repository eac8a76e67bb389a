#include "plugins/retrieval/duplicates/near_duplicate.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "plugins/files/digest.hpp"
#include "plugins/retrieval/duplicates/normal_form.hpp"

namespace krl::retrieval {
namespace {

bool have_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& kernel) {
    return std::binary_search(b.begin(), b.end(), kernel);
  });
}

// Among the 15,000 pairs of this project's kernels for different tasks (configs/tasks,
// bench/kernels), 0.15 % have this much in common, most of them a kernel that both need.
constexpr double kSimilar = 0.85;
constexpr std::size_t kRunTokens = 5;

// The tokens of a normal form; names without their numbers, which all change when one is added.
std::vector<std::string_view> tokens_of(std::string_view form) {
  std::vector<std::string_view> tokens;
  while (!form.empty()) {
    const std::size_t end = std::min(form.find_first_of(" \n"), form.size());
    std::string_view token = form.substr(0, end);
    const bool numbered = token.size() > 1 && (token[0] == 'v' || token[0] == 'm') &&
                          token.find_first_not_of("0123456789", 1) == token.npos;
    if (numbered) token = token.substr(0, 1);
    if (!token.empty()) tokens.push_back(token);
    form.remove_prefix(std::min(end + 1, form.size()));
  }
  return tokens;
}

std::vector<std::uint32_t> runs_of(std::string_view form) {
  const std::vector<std::string_view> tokens = tokens_of(form);
  std::vector<std::uint32_t> runs;
  for (std::size_t i = 0; i + kRunTokens <= tokens.size(); ++i) {
    std::size_t run = 0;
    for (std::size_t t = i; t < i + kRunTokens; ++t)
      run = run * 1'000'003 + std::hash<std::string_view>()(tokens[t]);
    runs.push_back(static_cast<std::uint32_t>(run ^ (run >> 32U)));
  }
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

// The share of what either has that both have.
double overlap(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  const std::size_t all = a.size() + b.size() - common.size();
  return all == 0 ? 0 : static_cast<double>(common.size()) / static_cast<double>(all);
}

bool are_similar(const TextIdentity& a, const TextIdentity& b) {
  return std::any_of(a.runs.begin(), a.runs.end(), [&](const auto& runs) {
    return std::any_of(b.runs.begin(), b.runs.end(),
                       [&](const auto& others) { return overlap(runs, others) >= kSimilar; });
  });
}

}  // namespace

TextIdentity identity_of(std::string_view text) {
  const NormalForm form = normal_form(text);
  TextIdentity identity;
  identity.hash = files::sha256_hex(text);
  if (!form.whole.empty()) identity.source = files::sha256_hex(form.whole);
  if (!form.whole.empty()) identity.runs.push_back(runs_of(form.whole));
  for (const std::string& kernel : form.kernels) {
    identity.kernels.push_back(files::sha256_hex(kernel));
    identity.runs.push_back(runs_of(kernel));
  }
  std::sort(identity.kernels.begin(), identity.kernels.end());
  return identity;
}

std::optional<Likeness> likeness(const TextIdentity& a, const TextIdentity& b) {
  if (a.hash == b.hash) return Likeness::kSameText;
  if (!a.source.empty() && a.source == b.source) return Likeness::kSameSource;
  if (have_common(a.kernels, b.kernels)) return Likeness::kSameKernel;
  if (are_similar(a, b)) return Likeness::kSimilarSource;
  return std::nullopt;
}

}  // namespace krl::retrieval
