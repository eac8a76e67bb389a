// Determines how much of CUDA C++ a source needs before its own text begins. Pure.
#pragma once

#include <string>
#include <string_view>

namespace krl::nvrtc {

// True if the source does without textures, surfaces and the functions of the device runtime. NVRTC
// leaves these out if it is told --minimal, and then compiles a small kernel in 20 % less time. A
// source qualifies if it includes only headers that are known to do without.
bool is_minimal(std::string_view source);

// Returns the include lines of those headers that take NVRTC most of a second, if the source
// includes them before anything else. They may then be compiled once for many sources.
std::string preamble_of(std::string_view source);

}  // namespace krl::nvrtc
