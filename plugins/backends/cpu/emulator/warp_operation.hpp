// What the lanes of a warp get back from a shuffle, vote, match or reduction. Pure. Any thread.
#pragma once

#include <array>
#include <cstdint>

namespace krl::emulator {

struct WarpOperands {
  std::uint32_t members = 0;  // the lanes that take part
  std::array<std::uint64_t, 32> values{};
  std::array<std::uint32_t, 32> sources{};  // of a shuffle, each below 32
};

// CUDA leaves undefined what a lane reads from one that takes no part; here every width of it is a
// NaN.
inline constexpr std::uint64_t kUndefinedLane = 0x7fff7fff7fff7fff;

// `operation` is one of krl_warp_operation. Only the members' results mean something.
std::array<std::uint64_t, 32> warp_operation(unsigned operation, const WarpOperands& operands);

}  // namespace krl::emulator
