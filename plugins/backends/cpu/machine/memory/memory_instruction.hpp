// Parses the modifiers of memory instructions such as
// "ld.relaxed.gpu.global.L1::no_allocate.v4.f32".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/cpu/machine/memory/synchronisation.hpp"
#include "plugins/backends/cpu/machine/operands.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

struct MemoryModifiers {
  ptx::Space space = ptx::Space::kGeneric;
  ptx::Type type = ptx::Type::kNone;
  std::uint32_t elements = 1;  // .v2, .v4, .v8
  bool strong = false;         // volatile, relaxed, acquire, release, mmio
  bool acquire = false;
  bool release = false;
  bool block_scope = false;         // .cta
  bool read_only = false;           // .nc
  bool past_l1 = false;             // .cg, .cv
  bool cache_policy = false;        // .L2::cache_hint: one operand more, at the end
  std::vector<std::string> others;  // in their order: operations, .noftz, …

  bool take(std::string_view other);  // true, if it was there; it is no longer
  Fence fence() const;                // the fence that the access implies
};

// Throws Unsupported for a modifier of addressing that the instruction does not have.
MemoryModifiers read_modifiers(const ptx::Instruction& instruction, const Operands& operands);

// The row of an address operand, its width, offset and space, as AccessForm reads them.
void bind_address(const ptx::Operand& operand, ptx::Space space, Operands& operands,
                  Instruction* out);

// Each takes its own instructions, as decode_memory does.
bool decode_load_store(const ptx::Instruction&, Operands&, Instruction* out);
bool decode_addressing(const ptx::Instruction&, Operands&, Instruction* out);  // cvta, isspacep
bool decode_fence(const ptx::Instruction&, Operands&, Instruction* out);       // and prefetches
bool decode_atomic(const ptx::Instruction&, Operands&, Instruction* out);
bool decode_bulk_copy(const ptx::Instruction&, Operands&, Instruction* out);
bool decode_async_copy(const ptx::Instruction&, Operands&, Instruction* out);
bool decode_tensor_copy(const ptx::Instruction&, Operands&, Instruction* out);
bool decode_mbarrier(const ptx::Instruction&, Operands&, Instruction* out);
// mapa, getctarank; barrier.cluster.arrive, whose operation is `arrive_at_cluster`.
bool decode_cluster(const ptx::Instruction&, Operands&, Instruction* out);
void arrive_at_cluster(const Instruction& i, Warp& warp, std::byte* frame, Mask mask);

}  // namespace krl::machine
