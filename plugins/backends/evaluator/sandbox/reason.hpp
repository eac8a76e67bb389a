// The reason why a system call has just failed, as text.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace krl::sandbox {

inline std::string reason() { return std::strerror(errno); }

}  // namespace krl::sandbox
