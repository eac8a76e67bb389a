// The structs that trusted_kernels.cu shares with the host, byte for byte.
#pragma once

#include <cstdint>

namespace krl::gpu {

struct DeviceFill {
  std::uint64_t offset, elements, row, seed;
  double low, high, factor;
  std::int32_t dtype, values;
};
static_assert(sizeof(DeviceFill) == 64);

struct DeviceRange {
  std::uint64_t offset, bytes;
  std::uint64_t expected;  // an address; 0 = poison
};
static_assert(sizeof(DeviceRange) == 24);

struct DeviceReport {
  std::uint64_t wrong;
  double max_abs_error, max_rel_error;
};
static_assert(sizeof(DeviceReport) == 24);

}  // namespace krl::gpu
