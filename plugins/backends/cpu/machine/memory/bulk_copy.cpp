// cp.async.bulk and cp.reduce.async.bulk: copies of many bytes between global memory and shared
// memory of the own block, each of which one thread begins.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "plugins/backends/cpu/machine/memory/combination.hpp"
#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"
#include "plugins/backends/ptx/declarations.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kAlignment = 16;

// Operands: a and immediate are the address in global memory, 8 bytes each; d is the row of
// addresses in shared memory, extra[0] their bytes, e the offset; b the row of sizes. The mbarrier
// is described by rows[0] of the access, register_bytes[0], and the offset rows[1].
AddressRow shared_addresses(const Instruction& i, const std::byte* frame) {
  return {frame + i.d, i.extra[0], static_cast<std::int32_t>(i.e)};
}
AddressRow barriers(const Instruction& i, const std::byte* frame) {
  return {frame + i.access->rows[0], i.access->register_bytes[0],
          static_cast<std::int32_t>(i.access->rows[1])};
}

// Returns the offset that an address in shared memory has in the lane's own block.
std::uint64_t own_offset(const Instruction& i, Warp& warp, unsigned lane, std::uint64_t address) {
  BlockMemory& memory = warp.memory();
  const std::uint32_t block = memory.cluster() == nullptr ? 0 : block_named_by(address);
  if (block == 0) return address;
  if (block == memory.rank() + 1) return static_cast<std::uint64_t>(offset_in_block(address));
  throw Fault{FaultKind::kUnsupported, "a bulk copy to or from another block of the cluster",
              i.line, static_cast<int>(lane)};
}

// The bytes of shared memory that a lane's copy touches.
void check_shared_range(const Instruction& i, Warp& warp, unsigned lane, std::uint64_t offset,
                        std::uint32_t bytes, bool write) {
  Request request = request_of(i, warp);
  request.write = write;
  request.bytes = bytes;
  const BlockMemory& memory = warp.memory();
  const std::uint64_t size = warp.memory().shared().bytes();
  if (offset > size || bytes > size - offset) {
    throw_outside_shared({warp.memory().launch(), request, lane, offset});
  }
  request.bytes = kAlignment;
  memory.check_shared(request, lane, offset);
  if (bytes % kAlignment == 0) return;
  throw Fault{FaultKind::kMisaligned,
              "a bulk copy of " + std::to_string(bytes) + " bytes, which are no multiple of 16",
              i.line, static_cast<int>(lane)};
}

void count_shared(const Instruction& i, std::uint32_t bytes) {
  constexpr std::uint32_t kBanks = 128;  // bytes of all banks
  ++i.access->counts.shared_requests;
  i.access->counts.wavefronts += (bytes + kBanks - 1) / kBanks;
}

// Calls begin(lane, offset, BulkCopy) for each lane that copies anything.
template <class Begin>
void each_copy(const Instruction& i, Warp& warp, std::byte* frame, Mask mask, bool to_shared,
               const Begin& begin) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset = own_offset(i, warp, lane, shared_addresses(i, frame).of(lane));
    const std::uint32_t bytes = row<std::uint32_t>(frame, i.b)[lane];
    check_shared_range(i, warp, lane, offset, bytes, to_shared);
    if (bytes == 0) continue;
    BulkCopy copy;
    copy.access = i.access;
    copy.line = i.line;
    copy.warp = warp.index();
    copy.lane = lane;
    copy.offset = static_cast<std::uint32_t>(offset);
    copy.runs = {{AddressRow{frame + i.a, 8, i.immediate}.of(lane), bytes, 0}};
    copy.data.resize(bytes);
    count_shared(i, bytes);
    begin(lane, std::move(copy));
  }
  warp.polls().work(1);
}

void begin_loads(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  BlockMemory& memory = warp.memory();
  each_copy(i, warp, frame, mask, true, [&](unsigned lane, BulkCopy copy) {
    Request request = request_of(i, warp);
    request.write = false;
    copy.level = memory.read_bulk(request, lane, copy.runs.front().address, copy.data);
    request.bytes = sizeof(std::uint64_t);
    request.strong = true;
    const std::uint64_t barrier = own_offset(i, warp, lane, barriers(i, frame).of(lane));
    memory.check_shared(request, lane, barrier);
    Conflict conflict;
    memory.enter_shared(request, lane, {memory, static_cast<std::uint32_t>(barrier)}, &conflict);
    memory.begin_bulk_load(static_cast<std::uint32_t>(barrier), std::move(copy));
  });
}

void begin_stores(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  each_copy(i, warp, frame, mask, false, [&](unsigned, BulkCopy copy) {
    copy.combine = i.access->combine;
    warp.memory().begin_bulk_store(std::move(copy));
  });
}

void commit_stores(const Instruction&, Warp& warp, std::byte*, Mask mask) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    warp.memory().bulk().commit(warp.index() * kLanes + lane);
  }
}

// immediate: how many groups may be under way; extra[0]: they only have to have read.
void wait_for_groups(const Instruction& i, Warp& warp, std::byte*, Mask mask) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    warp.memory().wait_for_stores(warp.index() * kLanes + lane,
                                  static_cast<std::uint32_t>(i.immediate), i.extra[0] != 0);
  }
}

// ---- decoding ----

using Names = std::vector<std::string>;

// Removes `names` from the front, if they are there.
bool take_front(Names& from, std::initializer_list<const char*> names) {
  if (from.size() < names.size() || !std::equal(names.begin(), names.end(), from.begin())) {
    return false;
  }
  from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(names.size()));
  return true;
}

void bind_copy(const ptx::Instruction& from, const ptx::Operand& global, const ptx::Operand& shared,
               Operands& operands, Instruction* out) {
  bind_address(global, ptx::Space::kGlobal, operands, out);
  if (out->extra[0] != 8) operands.unsupported(from);
  const Operands::Address address = operands.address(shared, ptx::Space::kShared);
  out->d = address.base;
  out->extra[0] = static_cast<std::uint8_t>(address.base_bytes);
  out->e = operands.short_offset(from, address);
  out->b = operands.source(from.operands[2], ptx::Type::kU32);
}

void decode_load(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  MemoryAccess& access = *out->access;
  access.kind = AccessKind::kCopy;
  access.element_bytes = kAlignment;
  bind_copy(from, from.operands[1], from.operands[0], operands, out);
  const Operands::Address barrier = operands.address(from.operands[3], ptx::Space::kShared);
  access.rows[0] = barrier.base;
  access.rows[1] = operands.short_offset(from, barrier);
  access.register_bytes[0] = static_cast<std::uint8_t>(barrier.base_bytes);
  out->run = begin_loads;
}

// `names`: operation and type; empty: a copy.
void decode_store(const ptx::Instruction& from, Names names, Operands& operands, Instruction* out) {
  MemoryAccess& access = *out->access;
  access.kind = AccessKind::kStore;
  access.element_bytes = kAlignment;
  if (!names.empty()) {
    const std::string operation = names.front();
    const auto type = ptx::type_of("." + names.back());
    const bool half = type == ptx::Type::kF16 || type == ptx::Type::kBF16;
    const bool flushes = operation != "add" || !half || (names.size() == 3 && names[1] == "noftz");
    if (!type || !flushes || names.size() != (half && operation == "add" ? 3u : 2u)) {
      operands.unsupported(from);
    }
    access.combine = combination_of(operation, *type);
    if (access.combine == nullptr) operands.unsupported(from);
    access.kind = AccessKind::kAtomic;
    access.strong = access.reduces = true;
    access.element_bytes = static_cast<std::uint8_t>(ptx::size_of(*type));
  }
  bind_copy(from, from.operands[0], from.operands[1], operands, out);
  out->run = begin_stores;
}

}  // namespace

bool decode_bulk_copy(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  if (from.opcode != "cp" || !from.has("bulk")) return false;
  if (decode_tensor_copy(from, operands, out)) return true;
  out->kind = InstructionClass::kLoadStore;
  Names names = from.modifiers;
  const bool reduces = take_front(names, {"reduce"});
  if (!take_front(names, {"async", "bulk"})) operands.unsupported(from);
  if (!reduces && names == Names{"commit_group"} && from.operands.empty()) {
    out->run = commit_stores;
    return true;
  }
  if (!reduces && take_front(names, {"wait_group"})) {
    out->extra[0] = take_front(names, {"read"});
    if (!names.empty() || from.operands.size() != 1 ||
        from.operands[0].kind != ptx::Operand::kInteger || from.operands[0].bits > ~0u) {
      operands.unsupported(from);
    }
    out->immediate = static_cast<std::int64_t>(from.operands[0].bits);
    out->run = wait_for_groups;
    return true;
  }
  // A block without a cluster is the only one of its own.
  const bool loads =
      !reduces &&
      (take_front(names, {"shared::cta", "global", "mbarrier::complete_tx::bytes"}) ||
       take_front(names, {"shared::cluster", "global", "mbarrier::complete_tx::bytes"}));
  if (!loads && !take_front(names, {"global", "shared::cta", "bulk_group"})) {
    operands.unsupported(from);
  }
  const bool policy = take_front(names, {"L2::cache_hint"});
  const std::size_t count = (loads ? 4u : 3u) + policy;
  if (from.operands.size() != count || (!reduces && !names.empty()) || (reduces && names.empty())) {
    operands.unsupported(from);
  }
  out->access = operands.new_access();
  if (loads) {
    decode_load(from, operands, out);
  } else {
    decode_store(from, std::move(names), operands, out);
  }
  return true;
}

}  // namespace krl::machine
