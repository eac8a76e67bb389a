// What a compiler said: its messages as data, and its log made fit to be shown. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

struct DiagnosticRecord {
  std::uint32_t severity = 0;          // KRL_SEVERITY_*
  std::uint32_t line = 0, column = 0;  // in the candidate's text, from 1; 0 = unknown
  std::string code;                    // "-Wunused-variable"; may be empty
  std::string text;

  bool operator==(const DiagnosticRecord&) const = default;
};

// What every compiler is told that a candidate's source is called: its log and its PTX say so.
inline constexpr char kSourceFile[] = "kernel.cu";

inline constexpr std::size_t kMaxLogBytes = 16 << 10;
inline constexpr std::size_t kMaxLogLineBytes = 1 << 10;
inline constexpr std::size_t kMaxDiagnostics = 32;

// Cuts the log to `most` bytes at the end of a line, lines to kMaxLogLineBytes, and takes the
// folders off every path in it, so that nothing about the machine reaches a model. Bytes that are
// no UTF-8 become '?'.
std::string clean_log(std::string_view log, std::size_t most = kMaxLogBytes);

// Reads "kernel.cu:3:5: error: text [-Wcode]" lines, as g++ and clang write them, and
// "kernel.cu(3): warning #177-D: text" and "ptxas fatal   : text", as NVRTC and nvcc do; the first
// kMaxDiagnostics of them, repetitions dropped. Messages in other files than `source_name` have no
// line.
std::vector<DiagnosticRecord> parse_diagnostics(std::string_view log, std::string_view source_name);

// True if a compiler says that it got no more memory.
bool says_out_of_memory(std::string_view log);

// The first error's text, with its place: "line 3: …"; empty if there is none.
std::string first_error(const std::vector<DiagnosticRecord>& diagnostics);

}  // namespace krl
