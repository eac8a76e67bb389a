#include "plugins/backends/cpu/plugin/proof_digests.hpp"

#include <string>

namespace krl::cpu {
using namespace evaluator;
namespace {

constexpr std::size_t kDigits = 13;  // hexadecimal ones that a double holds

Value named(const char* name, files::Digest& digest) {
  const auto number = std::stoull(digest.hex().substr(0, kDigits), nullptr, 16);
  return {-1, name, "", static_cast<double>(number)};
}

bool says_nothing(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  if (at == line.npos) return true;
  const std::string_view text = line.substr(at);
  return text.starts_with("//") || text.starts_with(".loc") || text.starts_with(".file");
}

}  // namespace

Value code_digest(const ScannedSource& source, std::string_view ptx) {
  files::Digest digest;
  for (const LineComment& comment : source.comments) {
    if (comment.text.find('@') != std::string::npos) digest.add(comment.text);
  }
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    const std::string_view line = ptx.substr(0, end);
    if (!says_nothing(line)) digest.add(line);
    ptx.remove_prefix(end);
  }
  return named("code_digest", digest);
}

void OutputDigest::add(const PreparedTask& task, const MachineRuns& runs) {
  for (std::size_t r = 0; r < runs.result().runs.size(); ++r) {
    const ResolvedCase& resolved = task.cases[runs.runs()[r].plan.case_index];
    for (std::size_t t = 0; t < resolved.tensors.size(); ++t) {
      if (!resolved.tensors[t].is_output) continue;
      const auto bytes = runs.tensor(r, t);
      digest_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  }
}

Value OutputDigest::value() { return named("output_digest", digest_); }

}  // namespace krl::cpu
