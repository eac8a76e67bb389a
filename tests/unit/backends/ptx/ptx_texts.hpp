// PTX for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "plugins/backends/ptx/reader.hpp"

namespace krl::ptx {

inline constexpr std::string_view kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

// A kernel `k` with predicates, 32-bit, 64-bit and floating-point registers. `body` begins in
// line 6.
inline std::string kernel(const std::string& body) {
  return std::string(kHead) +
         ".visible .entry k(.param .u64 p, .param .u32 n)\n"
         "{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n" +
         body + "\nret;\n}\n";
}

inline Module module_of(std::string_view text) {
  ReadResult result = read_module(text, "kernel.cu");
  EXPECT_FALSE(result.problem) << result.problem->message << " in line "
                               << result.problem->place.line;
  return std::move(result.module);
}

// "line 7: message"; empty if there is none.
inline std::string problem_of(std::string_view text, const ReadLimits& limits = {}) {
  const ReadResult result = read_module(text, "kernel.cu", limits);
  if (!result.problem) return {};
  return "line " + std::to_string(result.problem->place.line) + ": " + result.problem->message;
}

}  // namespace krl::ptx
