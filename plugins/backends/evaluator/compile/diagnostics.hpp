// A compiler's messages as data, and its log prepared for display. Pure functions.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/compile/source_file.hpp"

namespace krl::evaluator {

inline constexpr std::size_t kMaxLogBytes = 16 << 10;
inline constexpr std::size_t kMaxLogLineBytes = 1 << 10;
inline constexpr std::size_t kMaxDiagnostics = 32;

// Cuts the log to `most` bytes at the end of a line, lines to kMaxLogLineBytes, and takes the
// folders off every path in it, so that nothing about the machine reaches a model. Bytes that are
// no UTF-8 become '?'. Why a file cannot be opened is left out.
std::string clean_log(std::string_view log, std::size_t most = kMaxLogBytes);

// Reads "kernel.cu:3:5: error: text [-Wcode]" lines, as g++ and clang write them, and
// "kernel.cu(3): warning #177-D: text" and "ptxas fatal   : text", as NVRTC and nvcc do; the first
// kMaxDiagnostics of them, repetitions dropped. Messages in other files than `source_name` have no
// line.
std::vector<Diagnostic> parse_diagnostics(std::string_view log, std::string_view source_name);

// True if a compiler reports that it ran out of memory.
bool says_out_of_memory(std::string_view log);

// Returns the first error's text, with its place: "line 3: …"; empty if there is none.
std::string first_error(const std::vector<Diagnostic>& diagnostics);

}  // namespace krl::evaluator
