// The readable names of kernels.
#pragma once

#include <string>

namespace krl::compiled {

// Returns "void scale<float, 4>(float const*, int)" for a mangled name; empty if it is not mangled
// (extern "C"). Thread-safe.
std::string demangled(const std::string& name);

}  // namespace krl::compiled
