// cp.async: copies from global to shared memory that arrive when the thread waits for them.
#include <algorithm>
#include <bit>
#include <cstring>

#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"

namespace krl::machine {
namespace {

// Operands: d is the row of addresses in shared memory, extra[0] their bytes, e the offset; a and
// immediate are those in global memory, 8 bytes each. b is the row of how many bytes are copied,
// the others being zeros; 0: all. c is a predicate that makes all bytes zero; 0: none.
std::uint32_t source_bytes(const Instruction& i, std::byte* frame, unsigned lane,
                           std::uint32_t bytes) {
  if (i.c != 0 && (*row<Mask>(frame, i.c) >> lane & 1) != 0) return 0;
  return i.b == 0 ? bytes : std::min(bytes, row<std::uint32_t>(frame, i.b)[lane]);
}

// Part of an element, byte by byte.
void copy_part(BlockMemory& memory, Request request, unsigned lane, std::uint64_t from,
               std::uint32_t bytes, std::byte* to) {
  request.bytes = 1;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const Region& region = memory.find_global(request, lane, from + i);
    Conflict conflict;
    memory.enter_global(request, lane, region, from + i, &conflict);
    to[i] = region.host[from + i - region.begin];
  }
}

void read_sources(const Instruction& i, Warp& warp, std::byte* frame, Mask mask,
                  AsyncCopies::Copy* copy) {
  BlockMemory& memory = warp.memory();
  Request request = request_of(i, warp);
  request.write = false;
  const AddressRow from{frame + i.a, 8, i.immediate};
  Mask whole = 0;
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t bytes = source_bytes(i, frame, lane, copy->bytes);
    copy->data[lane].fill(std::byte{0});
    if (bytes == copy->bytes) {
      whole |= Mask{1} << lane;
    } else {
      copy_part(memory, request, lane, from.of(lane), bytes, copy->data[lane].data());
    }
  }
  if (whole == 0) return;
  access_memory(memory, request, from, whole, ptx::Space::kGlobal, frame,
                [&](const CheckedLanes& lanes) {
                  for (Mask rest = lanes.addresses.mask; rest != 0; rest &= rest - 1) {
                    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
                    std::memcpy(copy->data[lane].data(), lanes.of(lane), copy->bytes);
                  }
                });
}

// No one may touch the destinations any more, and the earlier accesses are ordered.
void claim_destinations(const Instruction& i, Warp& warp, std::byte* frame, Mask mask,
                        AsyncCopies::Copy* copy) {
  BlockMemory& memory = warp.memory();
  Request request = request_of(i, warp);
  request.write = true;
  const AddressRow to{frame + i.d, i.extra[0], static_cast<std::int32_t>(i.e)};
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset = to.of(lane);
    memory.check_shared(request, lane, offset);
    copy->offset[lane] = static_cast<std::uint32_t>(offset);
    Conflict conflict;
    if (memory.enter_shared(request, lane, copy->offset[lane], &conflict)) {
      throw_race({memory.launch(), request, lane, offset}, true, conflict);
    }
    memory.shared().begin_copy(copy->offset[lane], copy->bytes, memory.who(warp.index(), lane));
  }
  LaneAddresses addresses;
  if (!find_addresses(to, mask, &addresses)) return;
  const WordShape& shape = i.access->shapes.words(addresses, request.bytes);
  AccessCounts& counts = i.access->counts;
  ++counts.shared_requests;
  counts.wavefronts += shape.wavefronts;
  counts.bank_conflicts += shape.bank_conflicts;
}

void copy(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  AsyncCopies::Copy copy;
  copy.under_way = mask;
  copy.bytes = i.access->lane_bytes();
  read_sources(i, warp, frame, mask, &copy);
  claim_destinations(i, warp, frame, mask, &copy);
  warp.memory().copies(warp.index()).begin(copy);
}

void commit(const Instruction&, Warp& warp, std::byte*, Mask mask) {
  warp.memory().copies(warp.index()).commit(mask);
}

void wait_group(const Instruction& i, Warp& warp, std::byte*, Mask mask) {
  BlockMemory& memory = warp.memory();
  memory.copies(warp.index())
      .wait(mask, static_cast<std::uint32_t>(i.immediate),
            [&](const AsyncCopies::Copy& copy, unsigned lane) {
              memory.end_copy(warp.index(), copy, lane);
            });
}

void wait_all(const Instruction&, Warp& warp, std::byte*, Mask mask) {
  warp.memory().finish_copies(warp.index(), mask);
}

void decode_copy(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  MemoryModifiers modifiers = read_modifiers(from, operands);
  const bool known =
      modifiers.take("async") && modifiers.others.empty() && modifiers.space == ptx::Space::kGlobal;
  const std::size_t count = from.operands.size() - modifiers.cache_policy;
  if (!known || count < 3 || count > 4 || from.operands[2].kind != ptx::Operand::kInteger) {
    operands.unsupported(from);
  }
  const std::uint64_t bytes = from.operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) operands.unsupported(from);
  out->access = operands.new_access();
  out->access->kind = AccessKind::kCopy;
  out->access->element_bytes = static_cast<std::uint8_t>(bytes);
  bind_address(from.operands[1], ptx::Space::kGlobal, operands, out);
  const Operands::Address to = operands.address(from.operands[0], ptx::Space::kShared);
  if (out->extra[0] != 8 || to.offset != static_cast<std::int32_t>(to.offset)) {
    operands.unsupported(from);
  }
  out->d = to.base;
  out->extra[0] = static_cast<std::uint8_t>(to.base_bytes);
  out->e = static_cast<std::uint32_t>(to.offset);
  if (count == 4) {
    const ptx::Operand& last = from.operands[3];
    const bool predicate = last.kind == ptx::Operand::kRegister && operands.width(last) == 0;
    (predicate ? out->c : out->b) =
        operands.source(last, predicate ? ptx::Type::kPredicate : ptx::Type::kU32);
  }
  out->run = copy;
}

}  // namespace

bool decode_async_copy(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  if (from.opcode != "cp" || from.has("mbarrier")) return false;
  if (!from.has("async")) operands.unsupported(from);
  out->kind = InstructionClass::kLoadStore;
  if (from.has("commit_group")) {
    out->run = commit;
  } else if (from.has("wait_all")) {
    out->run = wait_all;
  } else if (from.has("wait_group") && from.operands.size() == 1 &&
             from.operands[0].kind == ptx::Operand::kInteger) {
    out->immediate = static_cast<std::int64_t>(from.operands[0].bits);
    out->run = wait_group;
  } else {
    decode_copy(from, operands, out);
  }
  return true;
}

}  // namespace krl::machine
