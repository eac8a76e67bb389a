// Determines how much of CUDA C++ a source needs before its own text begins. Pure.
#pragma once

#include <string>
#include <string_view>

namespace krl::nvrtc {

// Whether the source does without textures, surfaces and the functions of the device runtime, which
// NVRTC leaves out if it is told --minimal: then it compiles a small kernel in 20 % less time. That
// is so if it includes nothing but headers that are known to do without.
bool is_minimal(std::string_view source);

// Those headers that take NVRTC most of a second, as lines that include them, if the source
// includes them before anything else. They may then be compiled once for many sources.
std::string preamble_of(std::string_view source);

}  // namespace krl::nvrtc
