// The 64-bit generic address space of a launch. Global addresses are generic addresses unchanged;
// shared and local memory and the parameters of an entry have windows above them, whose lower 32
// bits are zero, so that an address truncated to 32 bits is the offset in its window.
#pragma once

#include <cstdint>

#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

// Variables of the module and functions are below (decode/module_layout.hpp).
inline constexpr std::uint64_t kBuffersBegin = std::uint64_t{1} << 42;
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kParameterWindow = std::uint64_t{1} << 46;
inline constexpr std::uint64_t kSharedWindow = kParameterWindow + kWindowBytes;
inline constexpr std::uint64_t kLocalWindow = kSharedWindow + kWindowBytes;

// In the window of shared memory, the lower 24 bits are an offset in the shared memory of one block,
// negative ones included: of the thread's own block, or, in a cluster, of the one with the rank that
// the bits above name, plus one.
inline constexpr unsigned kRankShift = 24;
inline constexpr std::uint32_t kMostRanks = 8;
inline constexpr std::uint32_t kNoBlock = 0xfe;  // in place of the rank plus one
// Returns the rank plus one of an address or offset; 0: the own block.
inline std::uint32_t block_named_by(std::uint64_t address) {
  constexpr std::uint64_t kNegative = std::uint64_t{1} << (kRankShift - 1);
  return static_cast<std::uint32_t>(address + kNegative) >> kRankShift;
}
inline std::int64_t offset_in_block(std::uint64_t address) {
  return static_cast<std::int64_t>(address << (64 - kRankShift)) >> (64 - kRankShift);
}

// Local memory of a thread, in bytes, as on hardware: for its kernel's variables, and those of the
// functions it is in.
inline constexpr std::uint32_t kLocalBytes = 512 << 10;

// Returns the space of a generic address; kGlobal for an address in no window.
inline ptx::Space space_of(std::uint64_t address) {
  if (address < kParameterWindow || address >= kLocalWindow + kWindowBytes) {
    return ptx::Space::kGlobal;
  }
  if (address >= kLocalWindow) return ptx::Space::kLocal;
  return address >= kSharedWindow ? ptx::Space::kShared : ptx::Space::kParameter;
}

// The offset added by cvta to an address of `space`; 0 for global and constant memory.
inline std::uint64_t window_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::kShared:
    case ptx::Space::kSharedCluster:
      return kSharedWindow;
    case ptx::Space::kLocal:
      return kLocalWindow;
    case ptx::Space::kParameter:
      return kParameterWindow;
    default:
      return 0;
  }
}

}  // namespace krl::machine
