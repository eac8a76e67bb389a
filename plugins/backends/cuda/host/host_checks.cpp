#include "plugins/backends/cuda/host/host_checks.hpp"

#include <kernelrl/abi.h>

#include <algorithm>
#include <span>

namespace krl::cuda {
using namespace evaluator;
namespace {

constexpr std::string_view kHarness = "kernelrl_";

constexpr std::string_view kLoaders[] = {"dlopen", "dlmopen", "dlsym", "dlvsym"};
constexpr std::string_view kStarters[] = {
    "popen",  "execve",  "execv",    "execvp",      "execvpe",      "execl",       "execle",
    "execlp", "fexecve", "execveat", "posix_spawn", "posix_spawnp", "memfd_create"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

SourceProblem problem_at(const SourceToken& token, std::string message) {
  return {token.line, token.column, std::move(message)};
}

// Returns the header that an #include at token `at` names, with its quotes or brackets; empty if it
// is not one.
std::string header_of(const std::vector<SourceToken>& tokens, std::size_t at) {
  if (!tokens[at].is("include") || at == 0 || !tokens[at - 1].is("#")) return {};
  std::string header;
  for (std::size_t n = at + 1; n < tokens.size() && !tokens[n].starts_line; ++n) {
    header += tokens[n].text;
  }
  return header;
}

std::optional<SourceProblem> check_header(const SourceToken& token, const std::string& named,
                                          const std::vector<std::string>& forbidden) {
  if (named.size() < 3 || (named.front() != '<' && named.front() != '"')) {
    return problem_at(token, "#include of a macro: write the header's name");
  }
  const std::string header = named.substr(1, named.size() - 2);
  if (header.front() == '/' || header.find("..") != std::string::npos) {
    return problem_at(token, "#include of an absolute path or of '..' is not allowed");
  }
  const std::string file = header.substr(header.rfind('/') + 1);
  for (const std::string& word : forbidden) {
    if (file.rfind(word, 0) == 0) {
      return problem_at(token, "the task forbids '" + word + "', and includes of it");
    }
  }
  return std::nullopt;
}

// Returns the text between the first two quotes after `before`; empty if there is none.
std::string quoted_after(const std::string& text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const std::size_t begin = text.find('"', at) + 1;
  const std::size_t end = text.find('"', begin);
  return begin == 0 || end == std::string::npos ? "" : text.substr(begin, end - begin);
}

bool is_of_torch(const std::string& name) {
  static constexpr std::string_view kTops[] = {"torch", "at",     "c10",      "ATen",
                                               "py",    "caffe2", "pybind11", "kernelrl_host"};
  const std::string top = name.substr(0, std::min(name.find("::"), name.find('/')));
  return std::find(std::begin(kTops), std::end(kTops), top) != std::end(kTops);
}

// "at::Tensor::softmax", "ATen/native/x.h"; empty if the error is about something else.
std::string missing_in(const std::string& error) {
  for (const char* whose : {"namespace ", "class "}) {
    const std::string owner = quoted_after(error, whose);
    const std::string member = quoted_after(error, "has no member ");
    if (!member.empty() && is_of_torch(owner)) return owner + "::" + member;
  }
  constexpr std::string_view kNoFile = ": No such file or directory";
  const std::size_t end = error.find(kNoFile);
  if (end != std::string::npos && is_of_torch(error.substr(0, end))) return error.substr(0, end);
  return {};
}

}  // namespace

std::optional<SourceProblem> check_host_source(const ScannedSource& source,
                                               const std::vector<std::string>& forbidden,
                                               bool may_load) {
  const std::vector<SourceToken>& tokens = source.tokens;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const SourceToken& token = tokens[t];
    if (token.kind != SourceToken::kIdentifier) continue;
    if (token.text.rfind(kHarness, 0) == 0) {
      return problem_at(token, "'" + token.text + "' is a name of the harness");
    }
    if (std::find(forbidden.begin(), forbidden.end(), token.text) != forbidden.end()) {
      return problem_at(token, "the task forbids '" + token.text + "'");
    }
    if (!may_load && is_one_of(token.text, kLoaders)) {
      return problem_at(token, "'" + token.text +
                                   "' is not allowed: host code loads no libraries, except those "
                                   "that the backend's option allow_libraries names");
    }
    if (is_one_of(token.text, kStarters)) {
      return problem_at(token, "'" + token.text + "' is not allowed: host code starts no programs");
    }
    const std::string header = header_of(tokens, t);
    if (header.empty()) continue;
    if (auto problem = check_header(token, header, forbidden)) return problem;
  }
  return std::nullopt;
}

void name_what_torch_lacks(std::vector<Diagnostic>* diagnostics) {
  for (Diagnostic& diagnostic : *diagnostics) {
    const std::string missing = missing_in(diagnostic.text);
    if (!missing.empty()) diagnostic.text = "not in kernelrl's torch shim: " + missing;
  }
}

void name_what_the_linker_refused(std::string_view log, std::vector<Diagnostic>* diagnostics) {
  constexpr std::string_view kUndefined = ": undefined reference to `", kLinker = "ld: ";
  Diagnostic error;
  error.severity = KRL_SEVERITY_ERROR;
  if (const std::size_t at = log.find(kUndefined); at != std::string_view::npos) {
    const std::string_view rest = log.substr(at + kUndefined.size());
    error.text =
        std::string(rest.substr(0, rest.find('\''))) +
        " is not in the libraries linked with host code: the CUDA runtime, libc and libstdc++";
  } else if (const std::size_t words = log.find(kLinker); words != std::string_view::npos) {
    const std::string_view rest = log.substr(words);
    error.text = rest.substr(0, rest.find('\n'));
  } else {
    return;
  }
  diagnostics->insert(diagnostics->begin(), std::move(error));
}

}  // namespace krl::cuda
