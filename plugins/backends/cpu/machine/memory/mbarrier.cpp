// mbarrier: barriers that are objects in shared memory, of 8 bytes.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "plugins/backends/cpu/machine/memory/mbarrier.hpp"

#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;
constexpr std::int64_t kMostBytes = (1 << 20) - 1;  // expected, or come before they were

// An mbarrier object as the machine lays it out; programs see only opaque bits.
struct Barrier {
  std::uint32_t pending = 0;   // arrivals that the present phase still waits for
  std::uint32_t expected = 0;  // arrivals of the next phase
  std::int32_t bytes = 0;      // bytes that the present phase still waits for
  std::uint32_t phase = 0;     // 0 and 1 in turn
  bool completed = false;      // by the present change

  static Barrier of(std::uint64_t bits) {
    Barrier barrier;
    barrier.pending = static_cast<std::uint32_t>(bits) & kMostArrivals;
    barrier.expected = static_cast<std::uint32_t>(bits >> 20) & kMostArrivals;
    barrier.bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(bits << 2) >> 42);
    barrier.phase = static_cast<std::uint32_t>(bits >> 62) & 1;
    return barrier;
  }
  std::uint64_t bits() const {
    return std::uint64_t{pending} | std::uint64_t{expected} << 20 |
           (static_cast<std::uint64_t>(bytes) & 0x3fffff) << 40 | std::uint64_t{phase} << 62;
  }
  // If the phase is complete, the next begins.
  void complete() {
    if (pending != 0 || bytes != 0) return;
    pending = expected;
    phase ^= 1;
    completed = true;
  }
};

// Calls change(lane, Barrier*) for each lane, whose access is ordered like an atomic operation.
template <class Change>
void each_barrier(const Instruction& i, Warp& warp, std::byte* frame, Mask mask, bool write,
                  const Change& change) {
  BlockMemory& memory = warp.memory();
  Request request = request_of(i, warp);
  request.write = write;
  const AddressRow row = AccessForm::addresses(i, frame);
  ++i.access->counts.shared_requests;
  if (!write) memory.path(warp.index()).load(MemoryLevel::kShared, *i.access);
  WatchedWords words;
  words.bytes = sizeof(std::uint64_t);
  std::vector<BlockMemory*> passed;  // blocks in which a phase ends
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::uint64_t address = row.of(lane);
    if (AccessForm::space(i) == ptx::Space::kGeneric) address -= kSharedWindow;
    const BlockMemory::SharedPlace place = memory.find_shared(request, lane, address);
    Conflict conflict;
    if (memory.enter_shared(request, lane, place, &conflict)) {
      throw_race({memory.launch(), request, lane, place.offset, memory.rank_of(place)}, true,
                 conflict);
    }
    std::byte* const at = place.at();
    std::uint64_t bits;
    std::memcpy(&bits, at, sizeof bits);
    Barrier barrier = Barrier::of(bits);
    change(lane, &barrier);
    if (barrier.completed) passed.push_back(&place.owner);
    bits = barrier.bits();
    if (write) std::memcpy(at, &bits, sizeof bits);
    words.add(at);
  }
  for (BlockMemory* const block : passed) block->barrier_passed();
  if (write) {
    warp.polls().work(1);
  } else {
    warp.saw(i, words);
  }
}

[[noreturn]] void fail(const Instruction& i, unsigned lane, const char* what) {
  throw Fault{FaultKind::kTrap, what, i.line, static_cast<int>(lane)};
}

// In a cluster, barriers order what threads of all of its blocks do, whatever scope is named: code
// arrives at other blocks' barriers without one, which means that of the own block. Nothing waits for
// that, as one would for a fence.
void fence(Warp& warp, Mask mask, Fence in_cluster) {
  BlockMemory& memory = warp.memory();
  memory.order().fence(warp.index(), mask,
                       memory.cluster() == nullptr ? kFenceOfBlock : in_cluster);
}

// The phase waits for so many bytes more; less, if they have come.
void add_bytes(const Instruction& i, unsigned lane, std::int64_t bytes, Barrier* barrier) {
  const std::int64_t sum = barrier->bytes + bytes;
  if (sum < -kMostBytes || sum > kMostBytes) {
    fail(i, lane,
         "an mbarrier expects more than 1048575 bytes, or as many more than it expects come");
  }
  barrier->bytes = static_cast<std::int32_t>(sum);
}

// Bulk copies of which the barrier is told arrive, one after the other, until its phase is complete.
// Returns what becomes of the barrier.
Barrier let_copies_arrive(const Instruction& i, Warp& warp, unsigned lane, std::uint32_t offset) {
  BlockMemory& memory = warp.memory();
  std::byte* const at = memory.shared().data() + offset;
  Barrier barrier;
  bool completed = false;
  while (!completed && memory.bulk().is_due(offset)) {
    const BulkCopy copy = memory.bulk().take_load(offset);
    memory.arrive(copy);
    if (memory.bulk().has_to_wait(copy)) memory.path(warp.index()).load(copy.level, *i.access);
    std::uint64_t bits;
    std::memcpy(&bits, at, sizeof bits);
    barrier = Barrier::of(bits);
    add_bytes(i, lane, -std::int64_t{copy.bytes()}, &barrier);
    barrier.complete();
    completed = barrier.completed;
    bits = barrier.bits();
    std::memcpy(at, &bits, sizeof bits);
  }
  return barrier;
}

// b: the row of the count of arrivals.
void initialise(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  const auto* const counts = row<std::uint32_t>(frame, i.b);
  each_barrier(i, warp, frame, mask, true, [&](unsigned lane, Barrier* barrier) {
    if (counts[lane] == 0 || counts[lane] > kMostArrivals) {
      fail(i, lane, "an mbarrier for no arrivals, or for more than 1048575");
    }
    *barrier = {counts[lane], counts[lane], 0, 0};
  });
}

void invalidate(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  each_barrier(i, warp, frame, mask, true, [](unsigned, Barrier* barrier) { *barrier = {}; });
}

struct Arrival {
  bool drops = false;    // takes its arrivals out of later phases, too
  bool expects = false;  // b: bytes that the phase also waits for
  bool copies = false;   // cp.async.mbarrier.arrive: the thread's copies have arrived
  bool counts = true;    // it is one of the arrivals that the barrier was made for
};

// b: the row of the number of arrivals, or of the bytes; 0: one arrival. d: the row of the state
// before; 0: none.
template <Arrival arrival>
void arrive(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  BlockMemory& memory = warp.memory();
  fence(warp, mask, kFenceOfDevice);
  if (arrival.copies) memory.finish_copies(warp.index(), mask);
  each_barrier(i, warp, frame, mask, true, [&](unsigned lane, Barrier* barrier) {
    if (i.d != 0) row<std::uint64_t>(frame, i.d)[lane] = barrier->bits();
    const std::uint32_t operand = i.b == 0 ? 1 : row<std::uint32_t>(frame, i.b)[lane];
    if (arrival.expects) add_bytes(i, lane, operand, barrier);
    const std::uint32_t arrivals = arrival.expects ? 1 : operand;
    if (!arrival.counts) barrier->pending += arrivals;
    if (arrivals == 0 || arrivals > barrier->pending) {
      fail(i, lane, "more arrivals at an mbarrier than its phase expects");
    }
    barrier->pending -= arrivals;
    if (arrival.drops) barrier->expected -= std::min(barrier->expected, arrivals);
    barrier->complete();
  });
}

// b: the row of bytes. `sign`: 1 to expect them, -1: they have come.
template <int sign>
void change_bytes(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  each_barrier(i, warp, frame, mask, true, [&](unsigned lane, Barrier* barrier) {
    add_bytes(i, lane, sign * std::int64_t{row<std::uint32_t>(frame, i.b)[lane]}, barrier);
    if (sign < 0) barrier->complete();
  });
}

// d: a predicate; b: the row of a state or of a parity.
template <bool by_parity>
void test_wait(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  BlockMemory& memory = warp.memory();
  Mask passed = 0;
  memory.wait_at({});
  each_barrier(i, warp, frame, mask, false, [&](unsigned lane, Barrier* barrier) {
    const std::uint32_t phase = by_parity ? row<std::uint32_t>(frame, i.b)[lane] & 1
                                          : Barrier::of(row<std::uint64_t>(frame, i.b)[lane]).phase;
    const std::uint64_t address = AccessForm::addresses(i, frame).of(lane);
    const auto offset = static_cast<std::uint32_t>(offset_in_block(address));
    if (barrier->phase == phase && memory.bulk().is_due(offset)) {
      *barrier = let_copies_arrive(i, warp, lane, offset);
    }
    if (barrier->phase == phase) {
      memory.wait_at({offset, i.line});
      memory.bulk().look_at(offset);
    }
    passed |= Mask{barrier->phase != phase} << lane;
  });
  fence(warp, mask, kFenceOfDevice.acquiring());
  set_predicate(row<Mask>(frame, i.d), mask, passed);
}

void pending_count(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const auto* const states = row<std::uint64_t>(frame, i.b);
  set_lanes(row<std::uint32_t>(frame, i.d), mask,
            [=](unsigned lane) { return Barrier::of(states[lane]).pending; });
}

// `elsewhere`: the barrier may be of another block of the cluster.
void bind(const ptx::Instruction& from, const MemoryModifiers& modifiers,
          const ptx::Operand& address, Operands& operands, Instruction* out,
          bool elsewhere = false) {
  const bool in_cluster = elsewhere && modifiers.space == ptx::Space::kSharedCluster;
  const bool in_shared =
      modifiers.space == ptx::Space::kShared || modifiers.space == ptx::Space::kGeneric;
  if (!in_shared && !in_cluster) operands.unsupported(from);
  out->kind = InstructionClass::kAtomic;
  out->access = operands.new_access();
  out->access->kind = AccessKind::kAtomic;
  out->access->strong = true;
  out->access->element_bytes = 8;
  out->access->own_block = !in_cluster;
  bind_address(address, modifiers.space, operands, out);
}

// mbarrier.arrive, .arrive_drop and their forms: state, [barrier] {, count or bytes}.
void decode_arrive(const ptx::Instruction& from, MemoryModifiers modifiers, bool drops,
                   Operands& operands, Instruction* out) {
  const bool expects = modifiers.take("expect_tx");
  modifiers.take("noComplete");
  const std::size_t count = from.operands.size();
  if (!modifiers.others.empty() || count < 2 || count > 3 || (expects && count != 3)) {
    operands.unsupported(from);
  }
  bind(from, modifiers, from.operands[1], operands, out, true);
  out->d = operands.destination(from.operands[0], ptx::Type::kB64);
  if (out->d != 0 && modifiers.space == ptx::Space::kSharedCluster) operands.unsupported(from);
  if (count == 3) out->b = operands.source(from.operands[2], ptx::Type::kU32);
  out->run = expects ? (drops ? arrive<Arrival{true, true}> : arrive<Arrival{false, true}>)
                     : (drops ? arrive<Arrival{true}> : arrive<Arrival{}>);
}

void decode_wait(const ptx::Instruction& from, MemoryModifiers modifiers, Operands& operands,
                 Instruction* out) {
  const bool by_parity = modifiers.take("parity");
  const std::size_t count = from.operands.size();  // the last may be a time limit
  if (!modifiers.others.empty() || count < 3 || count > 4) operands.unsupported(from);
  bind(from, modifiers, from.operands[1], operands, out);
  out->d = operands.destination(from.operands[0], ptx::Type::kPredicate);
  out->b = operands.source(from.operands[2], by_parity ? ptx::Type::kU32 : ptx::Type::kB64);
  out->run = by_parity ? test_wait<true> : test_wait<false>;
}

void decode_copies_arrive(const ptx::Instruction& from, MemoryModifiers modifiers,
                          Operands& operands, Instruction* out) {
  const bool counts = modifiers.take("noinc");
  const bool known =
      modifiers.take("async") && modifiers.take("mbarrier") && modifiers.take("arrive");
  if (!known || !modifiers.others.empty() || from.operands.size() != 1) {
    operands.unsupported(from);
  }
  bind(from, modifiers, from.operands[0], operands, out);
  out->run = counts ? arrive<Arrival{false, false, true, true}>
                    : arrive<Arrival{false, false, true, false}>;
}

}  // namespace

std::string awaited_by_mbarrier(const std::byte* object) {
  std::uint64_t bits;
  std::memcpy(&bits, object, sizeof bits);
  const Barrier barrier = Barrier::of(bits);
  std::string text;
  if (barrier.pending != 0) {
    text = std::to_string(barrier.pending) + (barrier.pending == 1 ? " arrival" : " arrivals");
  }
  if (barrier.bytes > 0) {
    text += (text.empty() ? "" : " and ") + std::to_string(barrier.bytes) +
            " bytes that no copy brings";
  } else if (barrier.bytes < 0) {
    text += std::string(text.empty() ? "" : " and ") + "someone to expect " +
            std::to_string(-barrier.bytes) + " bytes that have come";
  }
  return text;
}

bool decode_mbarrier(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  const bool copies = from.opcode == "cp" && from.has("mbarrier");
  if (from.opcode != "mbarrier" && !copies) return false;
  MemoryModifiers modifiers = read_modifiers(from, operands);
  if (copies) {
    decode_copies_arrive(from, modifiers, operands, out);
  } else if (modifiers.take("arrive")) {
    decode_arrive(from, modifiers, false, operands, out);
  } else if (modifiers.take("arrive_drop")) {
    decode_arrive(from, modifiers, true, operands, out);
  } else if (modifiers.take("test_wait") || modifiers.take("try_wait")) {
    decode_wait(from, modifiers, operands, out);
  } else if (modifiers.take("pending_count") && from.operands.size() == 2) {
    out->kind = InstructionClass::kInteger;
    out->d = operands.destination(from.operands[0], ptx::Type::kU32);
    out->b = operands.source(from.operands[1], ptx::Type::kB64);
    out->run = pending_count;
  } else if (modifiers.take("inval") && from.operands.size() == 1) {
    bind(from, modifiers, from.operands[0], operands, out);
    out->run = invalidate;
  } else {
    const bool init = modifiers.take("init"), expect = modifiers.take("expect_tx");
    const bool come = modifiers.take("complete_tx");
    if (init + expect + come != 1 || !modifiers.others.empty() || from.operands.size() != 2) {
      operands.unsupported(from);
    }
    bind(from, modifiers, from.operands[0], operands, out, !init);
    out->b = operands.source(from.operands[1], ptx::Type::kU32);
    out->access->replaces = init;
    out->run = init ? initialise : expect ? change_bytes<1> : change_bytes<-1>;
  }
  return true;
}

}  // namespace krl::machine
