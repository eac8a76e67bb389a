// Checks of a candidate's text, before anything compiles it: what could reach around the compiler
// or the harness is refused by its token, with the reason and the line. Comments, strings, raw
// strings, spliced lines and digraphs are seen as the compiler sees them; macros are checked where
// they are written, and no refused name can be pasted together. ptx/contents.hpp checks the
// compiled code. Pure functions.
#pragma once

#include <cstdint>
#include <kernelrl/checked.hpp>
#include <kernelrl/python_source.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::evaluator {

inline constexpr std::size_t kMaxSourceBytes = 256 << 10;

struct SourceProblem {
  std::uint32_t line = 0, column = 0;
  std::string message;

  // "line 3, column 5: message".
  std::string text() const;
};

// Reports `source` as a problem if it is too large to be read.
std::optional<SourceProblem> check_size(std::string_view source);

// Scans `source`, or reports that it is too large or that compilers would not agree on it.
Checked<ScannedSource, SourceProblem> scan_source(std::string_view source);

// Returns the first problem of a source that is compiled for `arch`. `forbidden`: identifiers that the
// task forbids, which are names of CUDA C++.
std::optional<SourceProblem> check_source(const ScannedSource& source,
                                          const std::vector<std::string>& forbidden,
                                          std::string_view arch);

// The same of PTX, whoever wrote it.
std::optional<SourceProblem> check_ptx(const ScannedSource& source,
                                       const std::vector<std::string>& forbidden,
                                       std::string_view arch);

}  // namespace krl::evaluator
