// The structs that trusted_kernels.cu shares with the host, byte for byte.
#pragma once

#include <cstdint>

namespace krl::gpu {

struct DeviceFill {
  std::uint64_t offset, elements, row, seed;
  double low, high;
  std::int32_t dtype, values, structure = 0, distribution = 0;
  std::uint64_t change = 0;  // see krl_change; 0: none
  std::uint64_t seal = 0;    // the number of the guard that hides the seed; 0: none
};
static_assert(sizeof(DeviceFill) == 80);

inline constexpr std::uint64_t kChangedOf = 64;  // elements one is changed
inline constexpr std::uint64_t kNone = ~std::uint64_t{0};
// After the ValueKinds; `elements` are bytes, and `seed` is the number of the poison.
inline constexpr std::int32_t kFillPoison = 11;

struct DeviceRange {
  std::uint64_t offset, bytes;
  std::uint64_t expected = 0;    // an address; 0: guards or poison
  std::uint64_t guards = kNone;  // the offset in an arena whose guards are expected; kNone: poison
  std::uint64_t poison = 0;      // its number
};
static_assert(sizeof(DeviceRange) == 40);

// Offsets of a set of buffers in an arena, and of its copy; kept is kNone if there is none.
struct DeviceMove {
  std::uint64_t place, kept;
};
static_assert(sizeof(DeviceMove) == 16);

// The layout of a tensor's elements in memory, in elements.
struct DeviceStrides {
  std::uint64_t shape[8];
  std::int64_t strides[8];
  std::int32_t axes, element_bytes;
};
static_assert(sizeof(DeviceStrides) == 136);

struct DeviceComparison {
  std::uint64_t got, expected, rounding;  // addresses; rounding 0: none
  std::uint64_t elements;
  double atol, rtol;
  std::int32_t dtype, floating;
};
static_assert(sizeof(DeviceComparison) == 56);

struct DeviceReport {
  std::uint64_t wrong;
  double max_abs_error, max_rel_error;
};
static_assert(sizeof(DeviceReport) == 24);

}  // namespace krl::gpu
