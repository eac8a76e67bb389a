// mapa, getctarank, barrier.cluster.arrive.
#include "plugins/backends/cpu/machine/memory/address_space.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

// d: the address a in the block whose rank is b. extra[0]: addresses are generic. An address of
// anything else, and a rank that the cluster does not have, give one that no block has: only an
// access through it is a fault.
template <class T>
void map_to_block(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  const T* const addresses = row<T>(frame, i.a);
  const auto* const ranks = row<std::uint32_t>(frame, i.b);
  const std::uint32_t blocks = warp.memory().cluster()->blocks();
  const std::uint64_t window = i.extra[0] != 0 ? kSharedWindow : 0;
  set_lanes(row<T>(frame, i.d), mask, [&](unsigned lane) {
    const std::uint64_t offset = addresses[lane] - window;
    const bool known = offset < kWindowBytes && ranks[lane] < blocks;
    const std::uint64_t block = known ? ranks[lane] + 1 : kNoBlock;
    return static_cast<T>(window + (block << kRankShift) +
                          static_cast<std::uint64_t>(offset_in_block(offset)));
  });
}

// d: the rank of the block to which the address a belongs. extra[0]: addresses are generic.
template <class T>
void find_rank(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  const T* const addresses = row<T>(frame, i.a);
  const std::uint64_t window = i.extra[0] != 0 ? kSharedWindow : 0;
  const std::uint32_t own = warp.memory().rank();
  set_lanes(row<std::uint32_t>(frame, i.d), mask, [&](unsigned lane) {
    const std::uint32_t block = block_named_by(addresses[lane] - window);
    return block == 0 ? own : block - 1;
  });
}

bool is_generic(const ptx::Instruction& from, const MemoryModifiers& modifiers,
                Operands& operands) {
  const bool generic = modifiers.space == ptx::Space::kGeneric;
  const bool known = generic || modifiers.space == ptx::Space::kSharedCluster;
  const bool typed =
      modifiers.type == ptx::Type::kU64 || (modifiers.type == ptx::Type::kU32 && !generic);
  if (!known || !typed || !modifiers.others.empty()) operands.unsupported(from);
  return generic;
}

}  // namespace

// extra[0]: relaxed; extra[1]: the next instruction is the wait, for all lanes.
void arrive_at_cluster(const Instruction& i, Warp& warp, std::byte*, Mask mask) {
  BlockMemory& memory = warp.memory();
  warp.polls().work(1);
  memory.cluster()->arrive(memory.rank(), warp.index(), mask,
                           {i.extra[0] != 0, i.extra[1] != 0, i.line});
}

bool decode_cluster(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  const bool maps = from.opcode == "mapa";
  if (!maps && from.opcode != "getctarank") return false;
  const MemoryModifiers modifiers = read_modifiers(from, operands);
  const bool generic = is_generic(from, modifiers, operands);
  if (from.operands.size() != (maps ? 3 : 2)) operands.unsupported(from);
  const bool wide = modifiers.type == ptx::Type::kU64;
  out->kind = wide ? InstructionClass::kInteger64 : InstructionClass::kInteger;
  out->extra[0] = generic;
  out->a = operands.source(from.operands[1], modifiers.type);
  if (maps) {
    out->b = operands.source(from.operands[2], ptx::Type::kU32);
    out->d = operands.destination(from.operands[0], modifiers.type);
    out->run = wide ? map_to_block<std::uint64_t> : map_to_block<std::uint32_t>;
  } else {
    out->d = operands.destination(from.operands[0], ptx::Type::kU32);
    out->run = wide ? find_rank<std::uint64_t> : find_rank<std::uint32_t>;
  }
  if (out->d == 0) operands.unsupported(from);
  return true;
}

}  // namespace krl::machine
