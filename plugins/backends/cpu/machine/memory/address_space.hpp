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
