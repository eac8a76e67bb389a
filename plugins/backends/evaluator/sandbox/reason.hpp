// Why a system call has just failed, in words.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

namespace krl::sandbox {

inline std::string reason() { return std::strerror(errno); }

}  // namespace krl::sandbox
