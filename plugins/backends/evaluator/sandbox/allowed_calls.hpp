// The last filter that a process installs, once it has everything it needs: system calls not on its
// list fail with EPERM, in addition to earlier filters. Lasts for the life of the process. For
// single-threaded processes that have given up privileges (as kernelrl-sandbox does).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace krl::sandbox {

// A call by its number (SYS_read). With `argument`, 0 to 5, only if the lower 32 bits of that one
// are `value` where `mask` has ones.
struct AllowedCall {
  int number;
  int argument = -1;
  std::uint32_t mask = ~0u, value = 0;
};

// The reason if it does not work, otherwise empty.
std::string allow_only(std::span<const AllowedCall> calls);

// The calls of a process that only computes: it reads and writes the descriptors that it has,
// allocates and frees memory, none of which it can make executable, and ends. It cannot even signal
// itself: only a crash, a limit, or another process kills it.
std::vector<AllowedCall> computing_calls();

}  // namespace krl::sandbox
