// Converts the rows of an instruction to checked memory: the addresses of a warp's lanes, in any
// space.
#pragma once

#include <bit>
#include <cstdint>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/faults.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {

// The addresses of an instruction: a row, of 4 or 8 bytes each, and an offset.
struct AddressRow {
  const std::byte* row = nullptr;
  std::uint32_t bytes = 8;
  std::int64_t offset = 0;

  std::uint64_t of(unsigned lane) const {
    if (bytes == 8) {
      return reinterpret_cast<const std::uint64_t*>(row)[lane] + static_cast<std::uint64_t>(offset);
    }
    return reinterpret_cast<const std::uint32_t*>(row)[lane] + static_cast<std::uint32_t>(offset);
  }
};

// False: the lanes are further apart than deltas can express.
template <class T>
inline bool find_deltas(const T* row, Mask mask, LaneAddresses* to) {
  const T base = row[std::countr_zero(mask)];
  T far = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const T taken = T{0} - static_cast<T>(mask >> lane & 1);
    const T delta = (row[lane] - base) & taken;
    to->delta[lane] = static_cast<std::int32_t>(delta);
    far |= delta ^ static_cast<T>(static_cast<std::int64_t>(to->delta[lane]));
  }
  return far == 0;
}

inline bool find_addresses(const AddressRow& from, Mask mask, LaneAddresses* to) {
  to->first = from.of(static_cast<unsigned>(std::countr_zero(mask)));
  to->mask = mask;
  if (from.bytes == 4) {
    return find_deltas(reinterpret_cast<const std::uint32_t*>(from.row), mask, to);
  }
  return find_deltas(reinterpret_cast<const std::uint64_t*>(from.row), mask, to);
}

// The location of the lanes' bytes after a check: `at` + delta of each lane. In local memory (`at`
// is null) each lane has its own bytes, at the offset first + delta.
struct CheckedLanes {
  std::byte* at = nullptr;
  LocalMemory* local = nullptr;
  const LaneAddresses& addresses;
  const Shape* shape = nullptr;  // null: not known

  Shape::Pattern pattern() const { return shape == nullptr ? Shape::kGeneral : shape->pattern; }

  std::byte* of(unsigned lane) const { return at + addresses.delta[lane]; }
  std::uint32_t local_offset(unsigned lane) const {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(addresses.first) +
                                      addresses.delta[lane]);
  }
};

// Checks an access to local memory: `addresses` are offsets. `frame`: of the function.
void access_local(BlockMemory& memory, const Request& request, const LaneAddresses& addresses,
                  std::byte* frame);

// The lanes of `mask` that access the same space, and in global memory the same buffer, as the
// lowest, with their addresses: offsets, except for global memory. `space`: kGeneric is found out.
ptx::Space find_group(BlockMemory& memory, const Request& request, const AddressRow& row, Mask mask,
                      ptx::Space space, LaneAddresses* group);

// Checks a warp's access and calls move(const CheckedLanes&) for each group of lanes that access the
// same space and buffer; all groups are one request. Throws Fault.
template <class Move>
void access_groups(BlockMemory& memory, const Request& request, const AddressRow& row, Mask mask,
                   ptx::Space space, std::byte* frame, const Move& move) {
  LaneAddresses addresses;
  const Shape* shape = nullptr;
  AccessCounts& counts = request.access.counts;
  const AccessCounts before = counts;
  while (mask != 0) {
    const ptx::Space found = find_group(memory, request, row, mask, space, &addresses);
    mask &= ~addresses.mask;
    if (found == ptx::Space::kShared) {
      std::byte* const at = memory.access_shared(request, addresses, &shape);
      move(CheckedLanes{at, nullptr, addresses, shape});
      counts.shared_requests = before.shared_requests + 1;
    } else if (found == ptx::Space::kLocal) {
      access_local(memory, request, addresses, frame);
      move(CheckedLanes{nullptr, &memory.local(request.warp), addresses, nullptr});
      counts.local_requests = before.local_requests + 1;
    } else if (found == ptx::Space::kParameter) {
      memory.read_constant(request, addresses);
      // Read only, the same for all: the bytes themselves. find_group has checked them.
      auto* const at = const_cast<std::byte*>(memory.launch().parameters().data());
      move(CheckedLanes{at + addresses.first, nullptr, addresses, nullptr});
    } else {
      std::byte* const at = memory.access_global(request, addresses, &shape);
      move(CheckedLanes{at, nullptr, addresses, shape});
      counts.global_requests = before.global_requests + 1;
    }
  }
}

// The same, quicker where all lanes are one group.
template <class Move>
inline void access_memory(BlockMemory& memory, const Request& request, const AddressRow& row,
                          Mask mask, ptx::Space space, std::byte* frame, const Move& move) {
  LaneAddresses addresses;
  const Shape* shape = nullptr;
  if (find_addresses(row, mask, &addresses)) [[likely]] {
    if (space == ptx::Space::kShared) {
      std::byte* const at = memory.access_shared(request, addresses, &shape);
      return move(CheckedLanes{at, nullptr, addresses, shape});
    }
    if (space == ptx::Space::kLocal) {
      access_local(memory, request, addresses, frame);
      return move(CheckedLanes{nullptr, &memory.local(request.warp), addresses, nullptr});
    }
    const bool may_be_global =
        space == ptx::Space::kGlobal ||
        (space == ptx::Space::kGeneric && space_of(addresses.first) == ptx::Space::kGlobal) ||
        space == ptx::Space::kConstant;
    if (may_be_global) {
      if (space == ptx::Space::kConstant) memory.read_constant(request, addresses);
      std::byte* const at = memory.access_global(request, addresses, &shape);
      if (at != nullptr) [[likely]]
        return move(CheckedLanes{at, nullptr, addresses, shape});
    }
  }
  access_groups(memory, request, row, mask, space, frame, move);
}

// The operands of a memory instruction, as `Instruction` stores them.
struct AccessForm {
  static AddressRow addresses(const Instruction& i, const std::byte* frame) {
    return {frame + i.a, i.extra[0], i.immediate};
  }
  static ptx::Space space(const Instruction& i) { return static_cast<ptx::Space>(i.extra[1]); }
};

inline Request request_of(const Instruction& i, Warp& warp) {
  return {*i.access,
          i.line,
          warp.index(),
          warp.clock(),
          i.access->lane_bytes(),
          i.access->kind != AccessKind::kLoad,
          i.access->strong,
          i.access->kind == AccessKind::kAtomic,
          nullptr};
}

}  // namespace krl::machine
