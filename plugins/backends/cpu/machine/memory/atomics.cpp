// atom and red: lane after lane, each a strong read and write of its own.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "plugins/backends/cpu/machine/memory/combination.hpp"
#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/load_store.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"

namespace krl::machine {
namespace {

struct Bits128 {
  std::uint64_t half[2];
  bool operator==(const Bits128&) const = default;
};

// ---- what becomes of the value in memory; c: of cas only ----

template <class T>
T add(T old, T b, T) {
  return static_cast<T>(old + b);
}
template <class T>
T smaller(T old, T b, T) {
  return b < old ? b : old;
}
template <class T>
T larger(T old, T b, T) {
  return b > old ? b : old;
}
template <class T>
T both(T old, T b, T) {
  return old & b;
}
template <class T>
T either(T old, T b, T) {
  return old | b;
}
template <class T>
T exclusive(T old, T b, T) {
  return old ^ b;
}
template <class T>
T exchange(T, T b, T) {
  return b;
}
template <class T>
T compare_and_swap(T old, T b, T c) {
  return old == b ? c : old;
}
std::uint32_t increment(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return old >= b ? 0 : old + 1;
}
std::uint32_t decrement(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return old == 0 || old > b ? b : old - 1;
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
// Adds in global memory: subnormal numbers become zeros, as on the hardware.
float add_flushed(float old, float b, float) { return flushed(flushed(old) + flushed(b)); }

// Exact in single precision up to the one rounding, of both formats.
std::uint16_t add_half(std::uint16_t old, std::uint16_t b, std::uint16_t) {
  const float sum = static_cast<float>(std::bit_cast<_Float16>(old)) +
                    static_cast<float>(std::bit_cast<_Float16>(b));
  return std::isnan(sum) ? std::uint16_t{0x7fff}
                         : std::bit_cast<std::uint16_t>(static_cast<_Float16>(sum));
}
std::uint16_t add_bfloat(std::uint16_t old, std::uint16_t b, std::uint16_t) {
  const float sum =
      std::bit_cast<float>(std::uint32_t{old} << 16) + std::bit_cast<float>(std::uint32_t{b} << 16);
  if (std::isnan(sum)) return 0x7fff;
  const auto bits = std::bit_cast<std::uint32_t>(sum);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
template <std::uint16_t (*add)(std::uint16_t, std::uint16_t, std::uint16_t)>
std::uint32_t add_pair(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  const auto half = [](std::uint32_t pair, unsigned shift) {
    return static_cast<std::uint16_t>(pair >> shift);
  };
  return std::uint32_t{add(half(old, 16), half(b, 16), 0)} << 16 | add(half(old, 0), half(b, 0), 0);
}

// ---- the lanes ----

void count_shared_passes(BlockMemory& memory, MemoryAccess& access, const LaneAddresses& addresses,
                         const SectorShape& shape, std::uint32_t warp) {
  if (!access.loops) {
    access.counts.shared_repeats += shape.passes - 1;
    return;
  }
  access.counts.shared_loops += shape.passes;
  memory.path(warp).loop(shape.passes);
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const std::int64_t delta = addresses.delta[std::countr_zero(rest)];
    memory.loop(static_cast<std::uint32_t>(addresses.first + static_cast<std::uint64_t>(delta)), 1);
  }
}

void count_passes(BlockMemory& memory, MemoryAccess& access, const LaneAddresses& addresses,
                  std::uint32_t bytes, bool global, std::uint32_t warp) {
  const SectorShape& shape = access.shapes.sectors(addresses, bytes);
  if (!global) return count_shared_passes(memory, access, addresses, shape, warp);
  access.counts.atomic_passes += shape.passes;
  if (shape.pattern == Shape::kUniform) {
    const auto lanes = static_cast<std::uint32_t>(std::popcount(addresses.mask));
    return memory.launch().count_atomics(addresses.first, lanes);
  }
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const std::int64_t delta = addresses.delta[std::countr_zero(rest)];
    memory.launch().count_atomics(addresses.first + static_cast<std::uint64_t>(delta), 1);
  }
}

// Calls change(lane, at) for each lane of a group, after checking that the lane may change the
// memory and ordering its access. `region`: the buffer in global memory; null: shared memory.
// Returns whether a lane changed its word.
template <class Change>
bool change_words(BlockMemory& memory, const Request& request, const Region* region,
                  const LaneAddresses& group, const Change& change, WatchedWords* words) {
  const bool shared = region == nullptr;
  words->bytes = request.bytes;
  bool changed = false;
  for (Mask rest = group.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t address =
        group.first + static_cast<std::uint64_t>(std::int64_t{group.delta[lane]});
    Conflict conflict;
    if (shared) {
      const BlockMemory::SharedPlace place = memory.find_shared(request, lane, address);
      const bool if_changed = memory.enter_shared(request, lane, place, &conflict);
      words->add(place.at());
      if (!change(lane, place.at())) continue;
      if (if_changed) {
        throw_race({memory.launch(), request, lane, place.offset, memory.rank_of(place)}, true,
                   conflict);
      }
    } else {
      memory.count_update(request.access.counts, *region, address);
      const bool if_changed = memory.enter_global(request, lane, *region, address, &conflict);
      std::byte* const at = region->host + (address - region->begin);
      words->add(at);
      if (!change(lane, at)) continue;
      if (if_changed) throw_race({memory.launch(), request, lane, address}, false, conflict);
    }
    changed = true;
  }
  return changed;
}

// Calls change(lane, at) for all lanes, group after group.
template <class Change>
void each_lane(const Instruction& i, Warp& warp, std::byte* frame, Mask mask,
               const Change& change) {
  BlockMemory& memory = warp.memory();
  const Request request = request_of(i, warp);
  const AddressRow row = AccessForm::addresses(i, frame);
  MemoryAccess& access = *i.access;
  const AccessCounts before = access.counts;
  const Mask all = mask;
  const Fence fence{i.extra[2]};
  if (fence.releases()) memory.fence(warp.index(), mask, fence.releasing());
  double now = memory.keeps_time() ? memory.now(warp.index()) : 0;
  memory.path(warp.index()).atomic();
  while (mask != 0) {
    LaneAddresses group;
    const ptx::Space space = find_group(memory, request, row, mask, AccessForm::space(i), &group);
    mask &= ~group.mask;
    const bool shared = space == ptx::Space::kShared;
    const unsigned lowest = static_cast<unsigned>(std::countr_zero(group.mask));
    if (!shared && space != ptx::Space::kGlobal) {
      throw_outside_buffers({memory.launch(), request, lowest, row.of(lowest)});
    }
    const Region* region = shared ? nullptr : &memory.find_global(request, lowest, group.first);
    WatchedWords words;
    const bool changed = change_words(memory, request, region, group, change, &words);
    if (changed || access.reduces) {
      warp.polls().work(1);
    } else {
      warp.saw(i, words);
    }
    if (memory.keeps_time()) [[unlikely]] {
      if (!access.reduces) now = memory.receive(warp.index(), words, now);
      if (changed) memory.hand_over(warp.index(), words, now);
    }
    if (shared) {
      access.counts.shared_requests = before.shared_requests + 1;
    } else {
      access.counts.global_requests = before.global_requests + 1;
    }
    if (i.d != 0) {
      memory.path(warp.index()).load(shared ? MemoryLevel::kShared : MemoryLevel::kL2, access);
    }
    count_passes(memory, access, group, request.bytes, !shared, warp.index());
  }
  if (fence.acquires()) memory.fence(warp.index(), all, fence.acquiring());
}

// d: the row of the old values, or 0; b, c: rows of operands.
template <class T, T (*apply)(T, T, T)>
void atomic(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  const MemoryAccess& access = *i.access;
  each_lane(i, warp, frame, mask, [&](unsigned lane, std::byte* at) {
    bool changed = false;
    for (std::uint32_t k = 0; k < access.elements; ++k) {
      T old;
      std::memcpy(&old, at + k * sizeof(T), sizeof old);
      const T c = i.c == 0 ? T{} : row<T>(frame, i.c)[lane];
      const T now = apply(old, row<T>(frame, access.rows[k])[lane], c);
      changed |= std::memcmp(&old, &now, sizeof old) != 0;
      std::memcpy(at + k * sizeof(T), &now, sizeof now);
      if (i.d != 0) row<T>(frame, i.d)[lane] = old;
    }
    return changed;
  });
}

// ---- which operation ----

template <class T, T (*apply)(T, T, T)>
void combine(std::byte* element, const std::byte* with) {
  T old, other;
  std::memcpy(&old, element, sizeof old);
  std::memcpy(&other, with, sizeof other);
  const T now = apply(old, other, T{});
  std::memcpy(element, &now, sizeof now);
}

// An operation as an instruction, and on one element.
struct Update {
  Operation run = nullptr;
  Combination combine = nullptr;
};
template <class T, T (*apply)(T, T, T)>
constexpr Update update = {atomic<T, apply>, combine<T, apply>};

template <class T>
Update bitwise(const std::string& name) {
  if (name == "and") return update<T, both<T>>;
  if (name == "or") return update<T, either<T>>;
  if (name == "xor") return update<T, exclusive<T>>;
  if (name == "exch") return update<T, exchange<T>>;
  if (name == "cas") return update<T, compare_and_swap<T>>;
  return {};
}

template <class T>
Update arithmetic(const std::string& name) {
  if (name == "add") return update<std::make_unsigned_t<T>, add<std::make_unsigned_t<T>>>;
  if (name == "min") return update<T, smaller<T>>;
  if (name == "max") return update<T, larger<T>>;
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    if (name == "inc") return update<T, increment>;
    if (name == "dec") return update<T, decrement>;
  }
  return {};
}

Update float_addition(ptx::Type type, bool flush) {
  switch (type) {
    case ptx::Type::kF32:
      return flush ? update<float, add_flushed> : update<float, add<float>>;
    case ptx::Type::kF64:
      return update<double, add<double>>;
    case ptx::Type::kF16:
      return update<std::uint16_t, add_half>;
    case ptx::Type::kBF16:
      return update<std::uint16_t, add_bfloat>;
    case ptx::Type::kF16x2:
      return update<std::uint32_t, add_pair<add_half>>;
    case ptx::Type::kBF16x2:
      return update<std::uint32_t, add_pair<add_bfloat>>;
    default:
      return {};
  }
}

Update update_of(const std::string& name, ptx::Type type, bool flush) {
  switch (type) {
    case ptx::Type::kB16:
      return name == "cas"    ? update<std::uint16_t, compare_and_swap<std::uint16_t>>
             : name == "exch" ? update<std::uint16_t, exchange<std::uint16_t>>
                              : Update{};
    case ptx::Type::kB32:
      return bitwise<std::uint32_t>(name);
    case ptx::Type::kB64:
      return bitwise<std::uint64_t>(name);
    case ptx::Type::kB128:
      return name == "cas"    ? update<Bits128, compare_and_swap<Bits128>>
             : name == "exch" ? update<Bits128, exchange<Bits128>>
                              : Update{};
    case ptx::Type::kU32:
      return arithmetic<std::uint32_t>(name);
    case ptx::Type::kS32:
      return arithmetic<std::int32_t>(name);
    case ptx::Type::kU64:
      return arithmetic<std::uint64_t>(name);
    case ptx::Type::kS64:
      return arithmetic<std::int64_t>(name);
    default:
      return name == "add" ? float_addition(type, flush) : Update{};
  }
}

// Shared memory has instructions for integers of 32 bits, exchanges and compare-and-swap only; an
// assembler makes a loop of the last for all else.
bool is_loop_in_shared(const std::string& name, ptx::Type type) {
  if (name == "exch" || name == "cas") return false;
  return type != ptx::Type::kB32 && type != ptx::Type::kU32 && type != ptx::Type::kS32;
}

// Binds the rows of what is combined with memory: one, or one for each element of a vector.
void bind_values(const ptx::Instruction& from, const ptx::Operand& value,
                 const MemoryModifiers& modifiers, Operands& operands, MemoryAccess* access) {
  const bool listed = value.kind == ptx::Operand::kVector, vector = modifiers.elements > 1;
  if (listed != vector || (listed && value.elements.size() != modifiers.elements)) {
    operands.unsupported(from);
  }
  for (std::uint32_t k = 0; k < modifiers.elements; ++k)
    access->rows[k] = operands.source(listed ? value.elements[k] : value, modifiers.type);
}

}  // namespace

Combination combination_of(const std::string& operation, ptx::Type type) {
  if (operation == "cas" || operation == "exch") return nullptr;
  return update_of(operation, type, true).combine;
}

bool decode_atomic(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  const bool returns = from.opcode == "atom";
  if (!returns && from.opcode != "red") return false;
  if (from.has("async")) operands.unsupported(from);
  MemoryModifiers modifiers = read_modifiers(from, operands);
  modifiers.take("noftz");
  if (modifiers.others.size() != 1) operands.unsupported(from);
  const std::string name = modifiers.others.front();
  const std::size_t first = returns ? 1 : 0;  // position of the address
  const std::size_t count = first + 2 + (name == "cas") + modifiers.cache_policy;
  const auto bytes = static_cast<std::uint32_t>(ptx::size_of(modifiers.type));
  // Vectors of 32-bit floats only: their result has no separate row.
  const bool vector = modifiers.elements > 1;
  if (from.operands.size() != count || bytes == 0 || bytes * modifiers.elements > 16 ||
      (vector && returns)) {
    operands.unsupported(from);
  }
  out->kind = InstructionClass::kAtomic;
  out->access = operands.new_access();
  MemoryAccess& access = *out->access;
  access.kind = AccessKind::kAtomic;
  access.strong = true;
  access.own_block = modifiers.space == ptx::Space::kShared;
  access.reduces = name != "exch" && name != "cas";  // until the result is read
  access.replaces = name == "exch";                  // …
  access.elements = static_cast<std::uint8_t>(modifiers.elements);
  access.element_bytes = static_cast<std::uint8_t>(bytes);
  bind_address(from.operands[first], modifiers.space, operands, out);
  bind_values(from, from.operands[first + 1], modifiers, operands, &access);
  access.loops = is_loop_in_shared(name, modifiers.type);
  if (name == "cas") out->c = operands.source(from.operands[first + 2], modifiers.type);
  if (returns) out->d = operands.destination(from.operands[0], modifiers.type);
  access.block_scope = modifiers.block_scope;
  out->extra[2] = modifiers.fence().bits;
  const bool flush = modifiers.space == ptx::Space::kGlobal && !vector;
  out->run = update_of(name, modifiers.type, flush).run;
  if (out->run == nullptr) operands.unsupported(from);
  return true;
}

}  // namespace krl::machine
