// cp.async.bulk and cp.reduce.async.bulk: copies of many bytes between global memory and shared
// memory of the own block, each of which one thread begins.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "plugins/backends/cpu/machine/memory/bulk_operands.hpp"
#include "plugins/backends/cpu/machine/memory/combination.hpp"
#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"
#include "plugins/backends/ptx/declarations.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kAlignment = 16;

// Calls begin(lane, copy) for each lane that copies anything. b: the row of sizes in bytes.
template <class Begin>
void each_copy(const Instruction& i, Warp& warp, std::byte* frame, Mask mask, const Begin& begin) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t bytes = row<std::uint32_t>(frame, i.b)[lane];
    BulkCopy copy = bulk_copy_of(i, warp, frame, lane, bytes, kAlignment);
    if (bytes % kAlignment != 0) {
      throw Fault{FaultKind::kMisaligned,
                  "a bulk copy of " + std::to_string(bytes) + " bytes, which are no multiple of 16",
                  i.line, static_cast<int>(lane)};
    }
    if (bytes == 0) continue;
    copy.runs = {{AddressRow{frame + i.a, 8, i.immediate}.of(lane), bytes, 0}};
    begin(lane, std::move(copy));
  }
  warp.polls().work(1);
}

void begin_loads(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  each_copy(i, warp, frame, mask, [&](unsigned lane, BulkCopy copy) {
    Request request = request_of(i, warp);
    request.write = false;
    copy.level = warp.memory().read_bulk(request, lane, copy.runs.front().address, copy.data);
    begin_bulk_load(i, warp, frame, lane, std::move(copy));
  });
}

void begin_stores(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  each_copy(i, warp, frame, mask, [&](unsigned, BulkCopy copy) {
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

void decode_load(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  MemoryAccess& access = *out->access;
  access.kind = AccessKind::kCopy;
  access.element_bytes = kAlignment;
  bind_bulk_copy(from, from.operands[1], ptx::Space::kGlobal, from.operands[0], operands, out);
  out->b = operands.source(from.operands[2], ptx::Type::kU32);
  bind_bulk_barrier(from, from.operands[3], operands, out);
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
  bind_bulk_copy(from, from.operands[0], ptx::Space::kGlobal, from.operands[1], operands, out);
  out->b = operands.source(from.operands[2], ptx::Type::kU32);
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
