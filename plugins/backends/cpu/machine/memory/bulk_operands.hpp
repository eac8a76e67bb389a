// The operands that cp.async.bulk and cp.async.bulk.tensor have in common: an address of 8 bytes, the
// bytes of the own block's shared memory, and the mbarrier that counts what a load brings there.
//
// a and immediate are the address; d is the row of addresses in shared memory, extra[0] their bytes, e
// the offset. rows[0] of the access, register_bytes[0] and rows[1] describe the mbarrier in the same way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/backends/cpu/machine/memory/bulk_copies.hpp"
#include "plugins/backends/cpu/machine/operands.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

// `space`: of the address. Throws Unsupported for addresses of other widths.
void bind_bulk_copy(const ptx::Instruction& from, const ptx::Operand& address, ptx::Space space,
                    const ptx::Operand& shared, Operands& operands, Instruction* out);
void bind_bulk_barrier(const ptx::Instruction& from, const ptx::Operand& barrier,
                       Operands& operands, Instruction* out);

// Returns a lane's copy of so many bytes, whose data is not there yet. Throws Fault unless all of them
// lie in the own block's shared memory, from a multiple of `alignment` on.
BulkCopy bulk_copy_of(const Instruction& i, Warp& warp, const std::byte* frame, unsigned lane,
                      std::uint32_t bytes, std::uint32_t alignment);

// Begins a load, whose data is there. Throws Fault for a wrong mbarrier.
void begin_bulk_load(const Instruction& i, Warp& warp, const std::byte* frame, unsigned lane,
                     BulkCopy copy);

}  // namespace krl::machine
