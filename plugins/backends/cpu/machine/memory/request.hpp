// One execution of a memory instruction by the lanes of a warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// The values of a store: of each lane, elements that are in rows.
struct StoredValues {
  const std::byte* rows[MemoryAccess::kMostElements] = {};
  std::uint32_t elements = 1;
  std::uint32_t element_bytes = 4;
  // Distance between the values of neighbouring lanes.
  std::uint32_t row_bytes[MemoryAccess::kMostElements] = {};

  void copy(unsigned lane, std::byte* to) const {
    for (std::uint32_t i = 0; i < elements; ++i) {
      std::memcpy(to + i * element_bytes, rows[i] + lane * row_bytes[i], element_bytes);
    }
  }
};

struct Request {
  MemoryAccess& access;
  std::uint32_t line = 0;
  std::uint32_t warp = 0;
  std::uint64_t clock = 0;  // the warp's clock: the same within one basic block
  std::uint32_t bytes = 4;  // bytes per lane
  bool write = false;
  bool strong = false;
  bool atomic = false;
  const StoredValues* values = nullptr;  // for stores
  bool may_be_old = false;               // a load that may find a replaced value

  // True if the written or returned value depends on the present one.
  bool changes() const { return atomic && !access.replaces; }
};

}  // namespace krl::machine
