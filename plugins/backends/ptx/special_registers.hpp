// The special registers of the PTX ISA: where and when a thread runs.
#pragma once

#include <string_view>

namespace krl::ptx {

// "%tid", "%tid.x", "%clock64", "%envreg7".
bool is_special_register(std::string_view name);

}  // namespace krl::ptx
