// Checks of a candidate's text, before anything compiles it: what could reach around the compiler
// or the harness is refused by its token, with the reason and the line. Comments, strings, raw
// strings, spliced lines and digraphs are seen as the compiler sees them; macros are checked where
// they are written, and no refused name can be pasted together. ptx/contents.hpp checks the
// compiled code. Pure functions.
#pragma once

#include <cstdint>
#include <kernelrl/checked.hpp>
#include <kernelrl/cuda_source.hpp>
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
Checked<CudaSource, SourceProblem> scan_source(std::string_view source);

// True if the source is PTX, which begins with a directive.
bool is_ptx(const CudaSource& source);

// Returns the first problem of a source in PTX that is assembled for `arch`. The names that a task
// forbids are those of CUDA C++. ptx/contents.hpp checks all else.
std::optional<SourceProblem> check_ptx(const CudaSource& source,
                                       const std::vector<std::string>& forbidden,
                                       std::string_view arch);

// Returns the first problem of device code. `forbidden`: identifiers that the task forbids.
std::optional<SourceProblem> check_source(const CudaSource& source,
                                          const std::vector<std::string>& forbidden);

}  // namespace krl::evaluator
