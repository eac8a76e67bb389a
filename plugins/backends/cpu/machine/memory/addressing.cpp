// cvta, isspacep, fences, and what only concerns caches.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

// d = a + immediate, cut to the register's width.
template <class To, class From>
void add_window(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const From* const from = row<From>(frame, i.a);
  const auto window = static_cast<std::uint64_t>(i.immediate);
  set_lanes(row<To>(frame, i.d), mask,
            [=](unsigned lane) { return static_cast<To>(from[lane] + window); });
}

void test_space(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const auto* const addresses = row<std::uint64_t>(frame, i.a);
  const auto wanted = static_cast<ptx::Space>(i.extra[0]);
  set_predicate(row<Mask>(frame, i.d), mask,
                lanes_where([&](unsigned lane) { return space_of(addresses[lane]) == wanted; }));
}

// Shared memory of the own block, which in a cluster has addresses by its rank as well.
void test_own_shared(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  const auto* const addresses = row<std::uint64_t>(frame, i.a);
  BlockMemory& memory = warp.memory();
  const std::uint32_t own = memory.cluster() == nullptr ? 0 : memory.rank() + 1;
  set_predicate(row<Mask>(frame, i.d), mask, lanes_where([&](unsigned lane) {
                  const std::uint32_t block = block_named_by(addresses[lane] - kSharedWindow);
                  return space_of(addresses[lane]) == ptx::Space::kShared &&
                         (block == 0 || block == own);
                }));
}

void nothing(const Instruction&, Warp&, std::byte*, Mask) {}

void fence(const Instruction& i, Warp& warp, std::byte*, Mask mask) {
  warp.memory().fence(warp.index(), mask, {i.extra[0]});
}

void fence_proxy(const Instruction&, Warp& warp, std::byte*, Mask mask) {
  warp.memory().fence_proxy(warp.index(), mask);
}

void decode_cvta(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  MemoryModifiers modifiers = read_modifiers(from, operands);
  const bool to_space = modifiers.take("to");
  const bool wide = modifiers.type == ptx::Type::kU64;
  if (from.operands.size() != 2 || !modifiers.others.empty() ||
      modifiers.space == ptx::Space::kGeneric || (!wide && modifiers.type != ptx::Type::kU32)) {
    operands.unsupported(from);
  }
  out->kind = wide ? InstructionClass::kInteger64 : InstructionClass::kInteger;
  out->a = operands.source(from.operands[1], modifiers.type);
  out->d = operands.destination(from.operands[0], modifiers.type);
  const std::uint64_t window = window_of(modifiers.space);
  out->immediate = static_cast<std::int64_t>(to_space ? -window : window);
  out->run =
      wide ? add_window<std::uint64_t, std::uint64_t> : add_window<std::uint32_t, std::uint32_t>;
}

}  // namespace

bool decode_addressing(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  if (from.opcode == "cvta") {
    decode_cvta(from, operands, out);
    return true;
  }
  if (from.opcode != "isspacep") return false;
  const MemoryModifiers modifiers = read_modifiers(from, operands);
  if (from.operands.size() != 2 || !modifiers.others.empty() ||
      modifiers.space == ptx::Space::kGeneric) {
    operands.unsupported(from);
  }
  out->a = operands.source(from.operands[1], ptx::Type::kU64);
  out->d = operands.destination(from.operands[0], ptx::Type::kPredicate);
  // Constant memory is among global memory; the machine does not tell them apart.
  if (modifiers.space == ptx::Space::kConstant) operands.unsupported(from);
  const bool in_cluster = modifiers.space == ptx::Space::kSharedCluster;
  const ptx::Space space = in_cluster ? ptx::Space::kShared : modifiers.space;
  out->extra[0] = static_cast<std::uint8_t>(space);
  out->run = modifiers.space == ptx::Space::kShared ? test_own_shared : test_space;
  return true;
}

bool decode_fence(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  out->kind = InstructionClass::kLoadStore;
  if (from.opcode == "prefetch" || from.opcode == "prefetchu" || from.opcode == "applypriority" ||
      from.opcode == "createpolicy") {
    if (from.opcode == "createpolicy") {
      out->d = operands.destination(from.operands.at(0), ptx::Type::kB64);
    }
    out->run = nothing;
    return true;
  }
  if (from.opcode != "membar" && from.opcode != "fence") return false;
  constexpr std::string_view kKnown[] = {
      "cta",         "cluster",         "gl",           "gpu",   "sys",   "sc",
      "acq_rel",     "acquire",         "release",      "proxy", "async", "global",
      "shared::cta", "shared::cluster", "mbarrier_init"};
  MemoryModifiers order;
  for (const std::string& name : from.modifiers) {
    order.block_scope |= name == "cta";
    order.acquire |= name == "acquire";
    order.release |= name == "release";
    if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown)) {
      operands.unsupported(from);
    }
  }
  if (!order.acquire && !order.release) order.acquire = order.release = true;
  out->extra[0] = order.fence().bits;
  const bool proxy = from.has("proxy"), global = from.has("global");
  const bool of_space = global || from.has("shared::cta") || from.has("shared::cluster");
  if (proxy != from.has("async") || (of_space && !proxy)) operands.unsupported(from);
  // Order in global memory is not tracked for the asynchronous proxy.
  out->run = !proxy ? fence : global ? nothing : fence_proxy;
  return true;
}

}  // namespace krl::machine
