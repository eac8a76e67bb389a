// What a module's undefined symbols are bound to: the hooks of its instrumentation, CUDA's own
// functions and variables as the shim declares them, and the mathematical functions of the C
// library. Any thread.
#pragma once

#include <string_view>
#include <vector>

namespace krl::emulator {

struct Hook {
  std::string_view name;
  void* address;
};

// The address behind `name`, or null: then a module that uses it is refused. As `allowed_symbol` of
// the protocol.
void* hook_address(std::string_view name);

// Every name that has an address, by name.
const std::vector<Hook>& hooks();

// Those of them that are the C library's.
const std::vector<Hook>& math_functions();

}  // namespace krl::emulator
