// The text of a candidate in Triton without Python: its tokens, its comments, the heads of its
// kernels.
//
// Follows Python's lexical rules, so that text inside a string or a comment is never taken for code.
// Accepts any bytes and throws nothing. Header-only, C++17, no dependencies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/cuda_source.hpp>

namespace krl {

// A `#` comment is a LineComment; a string of several lines is one literal.
ScannedSource scan_python_source(std::string_view source);

// A scanned source in the language that it is in.
inline ScannedSource scan_candidate(std::string_view source) {
  const Language language = language_of(source);
  ScannedSource scanned =
      language == Language::kTriton ? scan_python_source(source) : scan_cuda_source(source);
  scanned.language = language;
  return scanned;
}

// Every function with the decorator `triton.jit`, those that kernels call included, in the order of
// the text. A parameter's type is its annotation: "tl.constexpr".
std::vector<KernelHead> find_triton_kernels(const ScannedSource& source);

inline bool is_constexpr(const KernelParameter& parameter) {
  constexpr std::string_view kWord = "constexpr";
  const std::string& type = parameter.type;
  return type.size() >= kWord.size() &&
         type.compare(type.size() - kWord.size(), kWord.size(), kWord) == 0;
}

}  // namespace krl

#include <kernelrl/detail/python_scanner.hpp>
#include <kernelrl/detail/triton_kernel_finder.hpp>
