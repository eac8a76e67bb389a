// The identity of a kernel's text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace krl::core {

// 16 hexadecimal digits, the same for sources that differ in blanks, line breaks and comments
// alone. Directives (// @launch …) count. Pure.
std::string identity_of(std::string_view source);

using KernelIds = std::set<std::string>;
using TaskKernelIds = std::map<std::string, KernelIds>;  // by task id

}  // namespace krl::core
