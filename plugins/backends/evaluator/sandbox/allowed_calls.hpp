// The last filter that a process puts on itself, once it has everything that it needs: a system
// call that is not on its list fails with EPERM, whatever filters came before. Lasts for the life
// of the process. For processes of one thread that have given up privileges (kernelrl-sandbox has
// done so).
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

// What kept it from working, empty if it works.
std::string allow_only(std::span<const AllowedCall> calls);

// Of a process that only computes: it reads and writes the descriptors that it has, takes and gives
// back memory, none of which it can make executable, and ends. It cannot signal even itself: what
// kills it is a crash, a limit, or somebody else.
std::vector<AllowedCall> computing_calls();

}  // namespace krl::sandbox
