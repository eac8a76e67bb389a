#include "plugins/backends/evaluator/source/static_checks.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>

namespace krl::evaluator {
namespace {

struct Reason {
  std::string_view word, why;
};

constexpr std::string_view kHost =
    "belongs to the host; the harness owns memory and launches: delete main() and other host "
    "functions, and write // @launch name<<<grid, block>>>(arguments)";

// Names that are refused wherever they are.
constexpr Reason kNames[] = {
    {"__has_include", "probes the machine's files"},
    {"__has_include__", "probes the machine's files"},
    {"__has_include_next", "probes the machine's files"},
    {"__has_embed", "probes the machine's files"},
    {"__FILE__", "probes the machine's files"},
    {"__BASE_FILE__", "probes the machine's files"},
    {"__FILE_NAME__", "probes the machine's files"},
    {"__DATE__", "depends on when it is compiled"},
    {"__TIME__", "depends on when it is compiled"},
    {"__TIMESTAMP__", "depends on when it is compiled"},
    {"__declspec", "is not an attribute that is allowed"},
    {"thread_local", "does not exist in device code"},
    {"__thread", "does not exist in device code"},
    {"gnu", "names compiler attributes"},
    {"__gnu__", "names compiler attributes"},
    {"cudaMalloc", kHost},
    {"cudaFree", kHost},
    {"cudaMemcpy", kHost},
    {"cudaLaunchKernel", kHost},
    {"cudaDeviceSynchronize", kHost},
};

constexpr Reason kPrefixes[] = {
    {"__tsan", "is a name of the harness"},        {"__sanitizer", "is a name of the harness"},
    {"__asan", "is a name of the harness"},        {"__ubsan", "is a name of the harness"},
    {"__cxa", "is a name of the C++ runtime"},     {"__gxx", "is a name of the C++ runtime"},
    {"__libc", "is a name of the C library"},      {"__tls", "is a name of the C library"},
    {"__dso", "is a name of the C library"},       {"__x86", "is a name of the compiler"},
    {"__atomic_", "is g++'s; use CUDA's atomics"}, {"__sync_", "is g++'s; use CUDA's atomics"},
};

// Names whose arguments are checked where they are.
constexpr std::string_view kReadNames[] = {"__attribute__", "__attribute", "_Pragma"};

constexpr std::string_view kAttributes[] = {
    "aligned",      "__aligned__", "always_inline", "__always_inline__",
    "cold",         "hot",         "may_alias",     "noinline",
    "__noinline__", "packed",      "unused",        "__unused__"};
constexpr std::string_view kStandardAttributes[] = {"fallthrough", "likely", "maybe_unused",
                                                    "nodiscard", "unlikely"};

constexpr std::string_view kDirectives[] = {"define", "undef", "if",    "ifdef", "ifndef",
                                            "elif",   "else",  "endif", "error", "warning"};

// The last ones only silence warnings.
constexpr std::string_view kPragmas[] = {"unroll",          "nounroll",         "once",
                                         "nv_diag_default", "nv_diag_suppress", "nv_diagnostic"};

// Headers that CUDA code names out of habit; a backend offers those that it has, and the others are
// compile errors. Any other name might be a file of the machine.
constexpr std::string_view kHeaders[] = {"algorithm",
                                         "array",
                                         "assert.h",
                                         "cassert",
                                         "cfloat",
                                         "chrono",
                                         "cinttypes",
                                         "climits",
                                         "cmath",
                                         "cooperative_groups.h",
                                         "cooperative_groups/memcpy_async.h",
                                         "cooperative_groups/reduce.h",
                                         "cooperative_groups/scan.h",
                                         "cstddef",
                                         "cstdint",
                                         "cstdio",
                                         "cstdlib",
                                         "cstring",
                                         "ctime",
                                         "cub/cub.cuh",
                                         "cuda.h",
                                         "cuda/atomic",
                                         "cuda/barrier",
                                         "cuda/pipeline",
                                         "cuda/ptx",
                                         "cuda/std/atomic",
                                         "cudaTypedefs.h",
                                         "cuda_awbarrier_primitives.h",
                                         "cuda_bf16.h",
                                         "cuda_fp16.h",
                                         "cuda_fp8.h",
                                         "cuda_pipeline.h",
                                         "cuda_runtime.h",
                                         "cuda_runtime_api.h",
                                         "cuda_texture_types.h",
                                         "curand_kernel.h",
                                         "device_atomic_functions.h",
                                         "device_functions.h",
                                         "device_launch_parameters.h",
                                         "float.h",
                                         "fstream",
                                         "functional",
                                         "inttypes.h",
                                         "iomanip",
                                         "iostream",
                                         "limits",
                                         "limits.h",
                                         "math.h",
                                         "math_constants.h",
                                         "math_functions.h",
                                         "memory",
                                         "mma.h",
                                         "numeric",
                                         "random",
                                         "sm_20_atomic_functions.h",
                                         "sm_30_intrinsics.h",
                                         "sstream",
                                         "stddef.h",
                                         "stdexcept",
                                         "stdint.h",
                                         "stdio.h",
                                         "stdlib.h",
                                         "string",
                                         "string.h",
                                         "surface_types.h",
                                         "texture_types.h",
                                         "time.h",
                                         "tuple",
                                         "type_traits",
                                         "utility",
                                         "vector",
                                         "vector_functions.h",
                                         "vector_types.h"};

// Folders of the toolkit whose headers are for device code: libcu++'s and CUB's.
struct HeaderFolder {
  std::string_view path, ending;
};
constexpr HeaderFolder kHeaderFolders[] = {
    {"cuda/std/", ""}, {"cub/block/", ".cuh"}, {"cub/thread/", ".cuh"}, {"cub/warp/", ".cuh"}};

// Beginnings of other headers that models include out of habit, and what to do instead.
constexpr Reason kHostHeaders[] = {
    {"torch/", "belongs to host code: leave it out, only kernels and @launch are compiled"},
    {"ATen/", "belongs to host code: leave it out, only kernels and @launch are compiled"},
    {"c10/", "belongs to host code: leave it out, only kernels and @launch are compiled"},
    {"pybind11/", "belongs to host code: leave it out, only kernels and @launch are compiled"},
    {"cub/", "calls the device from the host: include cub/block/…, cub/warp/… or cub/thread/…"},
    {"thrust/", "calls the device from the host: use cub/block/… or loops of your own"},
    {"cublas", "calls the device from the host: write the kernel"},
    {"cudnn", "calls the device from the host: write the kernel"},
    {"cutlass/", "is no part of the toolkit: use mma.h or inline PTX"},
    {"cute/", "is no part of the toolkit: use mma.h or inline PTX"},
};

// Names that must not be redefined by a macro, in addition to all that begin with two underscores.
constexpr std::string_view kFixedNames[] = {
    "threadIdx", "blockIdx", "blockDim",  "gridDim",   "warpSize", "defined",  "const",
    "volatile",  "static",   "extern",    "inline",    "void",     "bool",     "char",
    "short",     "int",      "long",      "signed",    "unsigned", "float",    "double",
    "if",        "else",     "for",       "while",     "do",       "return",   "struct",
    "class",     "template", "typename",  "operator",  "sizeof",   "alignof",  "alignas",
    "decltype",  "auto",     "constexpr", "namespace", "using",    "typedef",  "union",
    "enum",      "switch",   "case",      "default",   "break",    "continue", "goto"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool has_prefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool has_suffix(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// A file directly in one of kHeaderFolders, with an ordinary name.
bool is_in_header_folder(std::string_view header) {
  for (const HeaderFolder& folder : kHeaderFolders) {
    if (!has_prefix(header, folder.path) || !has_suffix(header, folder.ending)) continue;
    const std::size_t around = folder.path.size() + folder.ending.size();
    if (header.size() <= around) continue;
    const std::string_view name = header.substr(folder.path.size(), header.size() - around);
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
           std::string_view::npos;
  }
  return false;
}

std::string in_quotes(std::string_view word) { return "'" + std::string(word) + "'"; }

// True if the architecture "sm_90a" is of a larger number than the other one.
bool is_above(std::string_view target, std::string_view arch) {
  const auto number = [](std::string_view name) {
    int value = 0;
    name.remove_prefix(std::min(name.find('_'), name.size()));
    if (!name.empty()) std::from_chars(name.data() + 1, name.data() + name.size(), value);
    return value;
  };
  return number(target) > number(arch);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_harness_name(std::string_view name) {
  return name.size() >= 3 && std::tolower(static_cast<unsigned char>(name[0])) == 'k' &&
         std::tolower(static_cast<unsigned char>(name[1])) == 'r' &&
         std::tolower(static_cast<unsigned char>(name[2])) == 'l';
}

// Goes over the tokens once and stops at the first that is refused.
class Checker {
 public:
  // `pastes`: whether names may be pasted together even if these tokens have no ##.
  Checker(const std::vector<SourceToken>& tokens, const std::vector<std::string>& forbidden,
          bool pastes = false)
      : tokens_(tokens), forbidden_(forbidden), pastes_(pastes || has_pasting(tokens)) {}

  std::optional<SourceProblem> run() {
    for (at_ = 0; at_ < tokens_.size() && !problem_; ++at_) {
      const SourceToken& token = tokens_[at_];
      if (token.kind != SourceToken::kLiteral && !is_ascii(token.text)) {
        // NVRTC takes each byte for a token of its own.
        refuse(token, "a character beyond ASCII outside of comments and texts");
      }
      if (token.kind == SourceToken::kIdentifier) check_name(token);
      if (token.kind == SourceToken::kPunctuation) check_punctuation(token);
      if (token.kind == SourceToken::kLiteral) check_text(token);
    }
    return problem_;
  }

 private:
  const SourceToken& ahead(std::size_t n) const {
    static const SourceToken kNone;
    return at_ + n < tokens_.size() ? tokens_[at_ + n] : kNone;
  }
  void refuse(const SourceToken& token, const std::string& why) {
    if (!problem_) problem_ = SourceProblem{token.line, token.column, why};
  }
  static bool has_pasting(const std::vector<SourceToken>& tokens) {
    return std::any_of(tokens.begin(), tokens.end(),
                       [](const SourceToken& token) { return token.is("##"); });
  }

  void check_name(const SourceToken& token) {
    for (const Reason& name : kNames) {
      if (token.text == name.word) {
        return refuse(token, in_quotes(token.text) + " " + std::string(name.why));
      }
    }
    for (const Reason& prefix : kPrefixes) {
      if (has_prefix(token.text, prefix.word)) {
        return refuse(token, in_quotes(token.text) + " " + std::string(prefix.why));
      }
    }
    if (is_harness_name(token.text)) {
      return refuse(token, in_quotes(token.text) + " is a name of the harness");
    }
    if (contains(forbidden_, token.text)) {
      return refuse(token, "the task forbids " + in_quotes(token.text));
    }
    if (pastes_ && begins_refused_name(token.text)) {
      return refuse(token, in_quotes(token.text) +
                               " could become a forbidden name by pasting (##); write names out");
    }
    if (token.text == "__attribute__" || token.text == "__attribute") return attribute();
    if (token.text == "_Pragma") return pragma_operator(token);
  }

  // True if ## could complete this name to a refused or checked one. Names without a leading
  // underscore do nothing that the checks of the compiled code would miss, except for the task's.
  bool begins_refused_name(std::string_view name) const {
    const auto begins = [&](std::string_view whole) {
      return whole.size() > name.size() && has_prefix(whole, name);
    };
    if (std::any_of(forbidden_.begin(), forbidden_.end(), begins)) return true;
    if (name.front() != '_') return false;
    const auto begins_word = [&](const Reason& reason) { return begins(reason.word); };
    return std::any_of(std::begin(kReadNames), std::end(kReadNames), begins) ||
           std::any_of(std::begin(kNames), std::end(kNames), begins_word) ||
           std::any_of(std::begin(kPrefixes), std::end(kPrefixes), begins_word);
  }

  // Compilers differ over a raw string in a directive or in a group that #if skips: some take its
  // further lines for code. So they have to pass as code too.
  void check_text(const SourceToken& token) {
    const std::size_t line_end = token.text.find('\n');
    if (line_end == std::string::npos) return;
    const ScannedSource lines = scan_cuda_source(std::string_view(token.text).substr(line_end + 1));
    if (has_pasting(lines.tokens)) return refuse(token, "## in a raw string is not allowed");
    if (!lines.problems.empty()) {
      return refuse(token, "in a raw string: " + std::string(lines.problems.front().message) +
                               " is not allowed");
    }
    const auto found = Checker(lines.tokens, forbidden_, pastes_).run();
    if (found) refuse(token, "in a raw string: " + found->message);
  }

  void check_punctuation(const SourceToken& token) {
    if (token.text == "#" && token.starts_line) return directive();
    if (token.text == "[" && ahead(1).is("[")) return standard_attribute();
    if (token.text == "<" && ahead(1).is("<") && ahead(2).is("<")) {
      return refuse(
          token,
          "<<<>>> is host code: delete the function and say the launch in a comment, // @launch name<<<grid, block>>>(arguments)");
    }
  }

  // __attribute__((a, b(1)))
  void attribute() {
    std::size_t depth = 0;
    for (std::size_t n = 1; at_ + n < tokens_.size(); ++n) {
      const SourceToken& token = ahead(n);
      if (token.is("(")) ++depth;
      if (token.is(")") && --depth == 0) return;
      if (depth == 0) return refuse(token, "an attribute without its parentheses");
      if (depth == 2 && token.kind == SourceToken::kIdentifier &&
          !contains(kAttributes, token.text)) {
        return refuse(token, "the attribute " + in_quotes(token.text) + " is not allowed");
      }
    }
  }

  // [[a, b]]
  void standard_attribute() {
    for (std::size_t n = 2; at_ + n < tokens_.size() && !ahead(n).is("]"); ++n) {
      const SourceToken& token = ahead(n);
      const bool harmless = token.is(",") || (token.kind == SourceToken::kIdentifier &&
                                              contains(kStandardAttributes, token.text));
      if (!harmless) {
        return refuse(token, "the attribute " + in_quotes(token.text) + " is not allowed");
      }
    }
  }

  void pragma_operator(const SourceToken& token) {
    const std::string& text = ahead(2).text;
    if (!has_prefix(text, "\"unroll") && !has_prefix(text, "\"nounroll")) {
      refuse(token, "a pragma other than unroll");
    }
  }

  void directive() {
    const SourceToken& name = ahead(1);
    if (name.starts_line || name.text.empty()) return;  // a lone '#'
    if (name.text == "include") return include(name);
    if (name.text == "pragma") return pragma(name);
    if (!contains(kDirectives, name.text)) {
      return refuse(name, "the directive #" + name.text + " is not allowed");
    }
    const SourceToken& what = ahead(2);
    const bool sets = name.text == "define" || name.text == "undef";
    if (sets && (has_prefix(what.text, "__") || contains(kFixedNames, what.text))) {
      refuse(what, "#" + name.text + " of " + in_quotes(what.text) + ", which is reserved");
    }
  }

  void pragma(const SourceToken& name) {
    const SourceToken& what = ahead(2);
    if (!contains(kPragmas, what.text) || what.starts_line)
      refuse(name, "a pragma other than unroll");
  }

  void include(const SourceToken& name) {
    std::string header;
    for (std::size_t n = 2; at_ + n < tokens_.size() && !ahead(n).starts_line; ++n) {
      header += ahead(n).text;
    }
    const bool delimited = header.size() > 2 && (header.front() == '<' || header.front() == '"');
    const std::string inside = delimited ? header.substr(1, header.size() - 2) : header;
    if (!delimited || (!contains(kHeaders, inside) && !is_in_header_folder(inside))) {
      refuse(name, "#include " + header + ": " + why_not(inside));
    }
  }

  static std::string why_not(std::string_view header) {
    for (const Reason& host : kHostHeaders) {
      if (has_prefix(header, host.word)) return std::string(host.why);
    }
    return "device code has no such header; leave it out";
  }

  const std::vector<SourceToken>& tokens_;
  const std::vector<std::string>& forbidden_;
  const bool pastes_;
  std::size_t at_ = 0;
  std::optional<SourceProblem> problem_;
};

// The names of kernels in directives are compiled as well.
std::optional<SourceProblem> check_directives(const std::vector<LineComment>& comments,
                                              const std::vector<std::string>& forbidden) {
  constexpr std::string_view kLaunch = "@launch";
  for (const LineComment& comment : comments) {
    const std::size_t at = comment.text.find_first_not_of(" \t");
    if (at == std::string::npos || comment.text.compare(at, kLaunch.size(), kLaunch) != 0) continue;
    const std::size_t begin = at + kLaunch.size(), end = comment.text.find("<<<", begin);
    if (end == std::string::npos) continue;
    const ScannedSource kernel = scan_cuda_source(comment.text.substr(begin, end - begin));
    auto problem = Checker(kernel.tokens, forbidden).run();
    if (!problem) continue;
    problem->line = static_cast<std::uint32_t>(comment.line);
    problem->column += static_cast<std::uint32_t>(comment.column) + begin - 1;
    return problem;
  }
  return std::nullopt;
}

// Names in Triton are checked by its front end (candidate.py), and the code that it makes is checked
// as PTX.
std::optional<SourceProblem> check_names(const std::vector<SourceToken>& tokens,
                                         const std::vector<std::string>& forbidden) {
  for (const SourceToken& token : tokens) {
    if (token.kind != SourceToken::kIdentifier) continue;
    if (!is_ascii(token.text)) {  // Python takes some for other letters
      return SourceProblem{token.line, token.column,
                           "a character beyond ASCII outside of comments and texts"};
    }
    const bool harness = is_harness_name(token.text);
    if (!harness && std::ranges::find(forbidden, token.text) == forbidden.end()) continue;
    return SourceProblem{token.line, token.column,
                         in_quotes(token.text) + (harness ? " is a name of the harness"
                                                          : " is not allowed in this task")};
  }
  return std::nullopt;
}

}  // namespace

std::string SourceProblem::text() const {
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + message;
}

std::optional<SourceProblem> check_size(std::string_view source) {
  if (source.size() <= kMaxSourceBytes) return std::nullopt;
  return SourceProblem{1, 1,
                       "the source has " + std::to_string(source.size()) + " bytes; the limit is " +
                           std::to_string(kMaxSourceBytes)};
}

Checked<ScannedSource, SourceProblem> scan_source(std::string_view source) {
  if (auto problem = check_size(source)) return *std::move(problem);
  ScannedSource scanned = scan_candidate(source);
  if (scanned.problems.empty()) return scanned;
  const LexicalProblem& problem = scanned.problems.front();
  return SourceProblem{problem.line, problem.column,
                       std::string(problem.message) + " is not allowed"};
}

std::optional<SourceProblem> check_ptx(const ScannedSource& source,
                                       const std::vector<std::string>& forbidden,
                                       std::string_view arch) {
  const auto& tokens = source.tokens;
  const auto refuse = [](const SourceToken& token, std::string message) {
    return SourceProblem{token.line, token.column, std::move(message)};
  };
  const auto is_directive = [&](std::size_t i, std::string_view name) {
    return tokens[i].is(".") && i + 1 < tokens.size() && tokens[i + 1].is(name) &&
           tokens[i + 1].line == tokens[i].line && tokens[i + 1].column == tokens[i].column + 1;
  };
  if (!is_directive(0, "version")) return refuse(tokens[0], "PTX begins with .version");
  if (!forbidden.empty())
    return refuse(tokens[0], "this task forbids " + in_quotes(forbidden.front()) +
                                 ", which PTX has no name for: answer in CUDA C++");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("#")) return refuse(tokens[i], "PTX has no preprocessor");
    if (tokens[i].kind == SourceToken::kIdentifier && is_harness_name(tokens[i].text))
      return refuse(tokens[i], in_quotes(tokens[i].text) + " is a name of the harness");
    if (is_directive(i, "target") && i + 2 < tokens.size() && is_above(tokens[i + 2].text, arch))
      return refuse(tokens[i], ".target " + tokens[i + 2].text + ", but it is assembled for " +
                                   std::string(arch));
  }
  return std::nullopt;
}

std::optional<SourceProblem> check_source(const ScannedSource& source,
                                          const std::vector<std::string>& forbidden,
                                          std::string_view arch) {
  if (source.language == Language::kPtx) return check_ptx(source, forbidden, arch);
  if (source.language == Language::kTriton) return check_names(source.tokens, forbidden);
  if (auto problem = Checker(source.tokens, forbidden).run()) return problem;
  return check_directives(source.comments, forbidden);
}

}  // namespace krl::evaluator
