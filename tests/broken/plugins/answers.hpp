// The answers of the broken world: right or wrong, each with a number that makes it another kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace broken {

inline std::string answer(bool right, std::uint64_t number) {
  return std::string("<KERNEL>\n```cuda\n__global__ void k() {}  // ") +
         (right ? "right " : "wrong ") + std::to_string(number) + "\n```\n</KERNEL>";
}

inline bool is_right(std::string_view source) {
  const bool is_validated = source.find("out[i] = 2 * x[i]") != std::string_view::npos;
  return is_validated || source.find("// right") != std::string_view::npos;
}

}  // namespace broken
