// Operations that the lanes of a warp execute together: shuffles, votes, matches, reductions,
// barriers of a warp. The lanes that take part are those that met, even if the member mask has
// more.
//
// Rows of each operation: `a` the value, `e` the member masks, `d` the result, `c` a predicate that
// is a result too; 0 where there is none.
#include <algorithm>
#include <functional>
#include <string_view>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/operands.hpp"
#include "plugins/backends/cpu/machine/operations/parties.hpp"
#include "plugins/backends/cpu/machine/operations/tensor.hpp"
#include "plugins/backends/cpu/machine/operations/warp.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

using ptx::Type;

// ---- shuffles ----

enum class Shuffle { kUp, kDown, kButterfly, kIndex };

// Returns the lane that a lane reads from; -1: none, it keeps its own value. `clamp` has the last
// lane of a segment in bits 0 to 4, and in bits 8 to 12 the bits of a lane that tell which segment
// it is in.
template <Shuffle mode>
int source_lane(int lane, int by, int clamp) {
  const int segment = clamp >> 8 & 31;
  const int first = lane & segment;
  const int last = first | (clamp & 31 & ~segment);
  by &= 31;
  int from = 0;
  if constexpr (mode == Shuffle::kUp) from = lane - by;
  if constexpr (mode == Shuffle::kDown) from = lane + by;
  if constexpr (mode == Shuffle::kButterfly) from = lane ^ by;
  if constexpr (mode == Shuffle::kIndex) from = first | (by & ~segment);
  return (mode == Shuffle::kUp ? from >= last : from <= last) ? from : -1;
}

std::uint32_t clamp_of(const Instruction& last) {
  return static_cast<std::uint32_t>(last.immediate);
}

// Takes note of lanes that receive the value of one that takes no part. `from`: of each; -1:
// itself.
void note_absent(const Parties& parties, const std::int32_t* from, Warp& warp) {
  const Mask receivers = lanes_where([&](unsigned lane) {
    return from[lane] >= 0 && parties.has(lane) && !parties.has(static_cast<unsigned>(from[lane]));
  });
  if (receivers == 0) return;
  warp.memory().launch().note_unset(parties.begin()->at->line,
                                    "the value of a lane that takes no part");
}

// b: by how many lanes, or which. The value of a lane that takes no part is undefined.
template <Shuffle mode>
void shuffle(const Party* first, std::size_t count, Warp& warp) {
  const Parties parties(first, count);
  const Parties::Row<std::uint32_t> value(parties, &Instruction::a);
  const Parties::Row<std::int32_t> by(parties, &Instruction::b);
  const Parties::Row<std::int32_t> clamp(parties, clamp_of);
  std::int32_t from[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    from[lane] = source_lane<mode>(static_cast<int>(lane), by[lane], clamp[lane]);
  }
  const std::uint32_t* const undefined = warp.memory().launch().garbage().take(kLanes * 4);
  std::uint32_t shuffled[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned source = from[lane] < 0 ? lane : static_cast<unsigned>(from[lane]);
    shuffled[lane] = parties.has(source) ? value[source] : undefined[lane];
  }
  if (parties.lanes() != kAllLanes) note_absent(parties, from, warp);
  parties.set<std::uint32_t>(&Instruction::d, [&](unsigned lane) { return shuffled[lane]; });
  parties.set_predicate(&Instruction::c, lanes_where([&](unsigned i) { return from[i] >= 0; }));
}

// ---- votes ----

enum class Vote { kAll, kAny, kUniform, kBallot };

template <Vote mode>
void vote(const Party* first, std::size_t count, Warp&) {
  const Parties parties(first, count);
  const Mask lanes = parties.lanes();
  const Mask ayes = parties.predicate(&Instruction::a);
  if constexpr (mode == Vote::kBallot) {
    parties.set<std::uint32_t>(&Instruction::d, [ayes](unsigned) { return ayes; });
    return;
  }
  bool result = ayes != 0;
  if (mode == Vote::kAll) result = ayes == lanes;
  if (mode == Vote::kUniform) result = ayes == 0 || ayes == lanes;
  parties.set_predicate(&Instruction::d, result ? kAllLanes : 0);
}

// ---- matches ----

// The lanes with the value of `lane`.
template <class T>
Mask equals(const Parties& parties, const Parties::Row<T>& value, unsigned lane) {
  return parties.lanes() & lanes_where([&](unsigned i) { return value[i] == value[lane]; });
}

template <class T>
void match_any(const Party* first, std::size_t count, Warp&) {
  const Parties parties(first, count);
  const Parties::Row<T> value(parties, &Instruction::a);
  Mask matches[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    matches[lane] = parties.has(lane) ? equals(parties, value, lane) : 0;
  }
  parties.set<std::uint32_t>(&Instruction::d, [&](unsigned lane) { return matches[lane]; });
}

template <class T>
void match_all(const Party* first, std::size_t count, Warp&) {
  const Parties parties(first, count);
  const Parties::Row<T> value(parties, &Instruction::a);
  const bool all = equals(parties, value, parties.leader()) == parties.lanes();
  const Mask result = all ? parties.lanes() : 0;
  parties.set<std::uint32_t>(&Instruction::d, [result](unsigned) { return result; });
  parties.set_predicate(&Instruction::c, all ? kAllLanes : 0);
}

// ---- reductions ----

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

template <class T, class Combine>
void reduce(const Party* first, std::size_t count, Warp&) {
  const Parties parties(first, count);
  const Parties::Row<T> value(parties, &Instruction::a);
  T result = value[parties.leader()];
  for (unsigned lane = parties.leader() + 1; lane < kLanes; ++lane) {
    if (parties.has(lane)) result = Combine{}(result, value[lane]);
  }
  parties.set<T>(&Instruction::d, [result](unsigned) { return result; });
}

// ---- election and barrier ----

// Any lane may be elected; it is the lowest.
void elect(const Party* first, std::size_t count, Warp&) {
  const Parties parties(first, count);
  const unsigned leader = parties.leader();
  parties.set<std::uint32_t>(&Instruction::d, [leader](unsigned) { return leader; });
  parties.set_predicate(&Instruction::c, Mask{1} << leader);
}

void warp_barrier(const Party*, std::size_t, Warp&) {}  // meeting is its only effect

// Any of the lanes that could be here; which, the schedule decides.
void active_mask(const Instruction& instruction, Warp& warp, std::byte* frame, Mask mask) {
  LaunchMemory& launch = warp.memory().launch();
  if (launch.is_new_encounter(instruction.line))
    launch.add_encounter({0, instruction.line, "__activemask()"});
  set_lanes(row<std::uint32_t>(frame, instruction.d), mask, [mask](unsigned) { return mask; });
}

// ---- decoding ----

void set_operation(WarpOperation operation, Instruction* instruction) {
  instruction->kind = InstructionClass::kWarp;
  instruction->extra[0] = static_cast<std::uint8_t>(operation);
}

bool is(const ptx::Instruction& instruction, std::string_view name) {
  return instruction.full_name() == name;
}

// `d|p`, or `d` alone.
void set_results(const ptx::Operand& operand, Operands& operands, Instruction* last) {
  const bool pair = operand.kind == ptx::Operand::kPair;
  last->d = operands.destination(pair ? operand.elements[0] : operand, Type::kB32);
  if (pair) last->c = operands.destination(operand.elements[1], Type::kPredicate);
}

// The mask of the lanes that take part is the last operand.
void set_members(const ptx::Instruction& in, Operands& operands, Instruction* last) {
  last->e = operands.source(in.operands.back(), Type::kB32);
}

void require_operands(const ptx::Instruction& in, std::size_t count, const Operands& operands) {
  if (in.operands.size() != count) operands.unsupported(in);
}

void decode_shuffle(const ptx::Instruction& in, Operands& operands, Instruction* last,
                    Meeting* meeting) {
  if (is(in, "shfl.sync.up.b32")) *meeting = shuffle<Shuffle::kUp>;
  if (is(in, "shfl.sync.down.b32")) *meeting = shuffle<Shuffle::kDown>;
  if (is(in, "shfl.sync.bfly.b32")) *meeting = shuffle<Shuffle::kButterfly>;
  if (is(in, "shfl.sync.idx.b32")) *meeting = shuffle<Shuffle::kIndex>;
  if (*meeting == nullptr) operands.unsupported(in);  // without .sync: no longer in PTX
  require_operands(in, 5, operands);
  set_results(in.operands[0], operands, last);
  last->a = operands.source(in.operands[1], Type::kB32);
  last->b = operands.source(in.operands[2], Type::kB32);
  last->immediate = operands.source(in.operands[3], Type::kB32);
}

void decode_vote(const ptx::Instruction& in, Operands& operands, Instruction* last,
                 Meeting* meeting) {
  require_operands(in, 3, operands);
  if (is(in, "vote.sync.all.pred")) *meeting = vote<Vote::kAll>;
  if (is(in, "vote.sync.any.pred")) *meeting = vote<Vote::kAny>;
  if (is(in, "vote.sync.uni.pred")) *meeting = vote<Vote::kUniform>;
  if (is(in, "vote.sync.ballot.b32")) *meeting = vote<Vote::kBallot>;
  if (*meeting == nullptr) operands.unsupported(in);
  last->d = operands.destination(in.operands[0],
                                 in.modifiers.back() == "pred" ? Type::kPredicate : Type::kB32);
  last->a = operands.source(in.operands[1], Type::kPredicate);
}

void decode_match(const ptx::Instruction& in, Operands& operands, Instruction* last,
                  Meeting* meeting) {
  if (is(in, "match.any.sync.b32")) *meeting = match_any<std::uint32_t>;
  if (is(in, "match.any.sync.b64")) *meeting = match_any<std::uint64_t>;
  if (is(in, "match.all.sync.b32")) *meeting = match_all<std::uint32_t>;
  if (is(in, "match.all.sync.b64")) *meeting = match_all<std::uint64_t>;
  if (*meeting == nullptr) operands.unsupported(in);
  require_operands(in, 3, operands);
  set_results(in.operands[0], operands, last);
  last->a = operands.source(in.operands[1], in.modifiers.back() == "b64" ? Type::kB64 : Type::kB32);
}

void decode_reduction(const ptx::Instruction& in, Operands& operands, Instruction* last,
                      Meeting* meeting) {
  using U = std::uint32_t;
  using S = std::int32_t;
  if (is(in, "redux.sync.add.u32")) *meeting = reduce<U, Sum>;
  if (is(in, "redux.sync.add.s32")) *meeting = reduce<S, Sum>;
  if (is(in, "redux.sync.min.u32")) *meeting = reduce<U, Least>;
  if (is(in, "redux.sync.min.s32")) *meeting = reduce<S, Least>;
  if (is(in, "redux.sync.max.u32")) *meeting = reduce<U, Greatest>;
  if (is(in, "redux.sync.max.s32")) *meeting = reduce<S, Greatest>;
  if (is(in, "redux.sync.and.b32")) *meeting = reduce<U, std::bit_and<U>>;
  if (is(in, "redux.sync.or.b32")) *meeting = reduce<U, std::bit_or<U>>;
  if (is(in, "redux.sync.xor.b32")) *meeting = reduce<U, std::bit_xor<U>>;
  if (*meeting == nullptr) operands.unsupported(in);
  require_operands(in, 3, operands);
  set_results(in.operands[0], operands, last);
  last->a = operands.source(in.operands[1], Type::kB32);
}

// setmaxnreg: registers have no effect on values, but all lanes of a warp have to execute it.
void decode_register_count(const ptx::Instruction& in, Operands& operands, Instruction* last,
                           Meeting* meeting) {
  require_operands(in, 1, operands);
  const bool known =
      is(in, "setmaxnreg.inc.sync.aligned.u32") || is(in, "setmaxnreg.dec.sync.aligned.u32");
  const ptx::Operand& count = in.operands[0];
  if (!known || count.kind != ptx::Operand::kInteger || count.bits % 8 != 0 || count.bits < 24 ||
      count.bits > 256) {
    operands.unsupported(in);
  }
  set_operation(WarpOperation::kBarrier, last);
  *meeting = warp_barrier;
  last->e = operands.constant(kAllLanes, sizeof(Mask));
}

}  // namespace

WarpOperation operation_of(const Instruction& instruction) {
  return static_cast<WarpOperation>(instruction.extra[0]);
}

bool is_meeting(const ptx::Instruction& in) {
  static constexpr std::string_view kOpcodes[] = {"shfl",  "vote",  "match",
                                                  "redux", "elect", "setmaxnreg"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), in.opcode) != std::end(kOpcodes) ||
         (in.opcode == "bar" && in.has("warp")) || is_tensor(in);
}

void decode_meeting(const ptx::Instruction& in, Operands& operands, Instruction* last,
                    Meeting* meeting) {
  *meeting = nullptr;
  if (is_tensor(in)) return decode_tensor(in, operands, last, meeting);
  if (in.opcode == "setmaxnreg") return decode_register_count(in, operands, last, meeting);
  set_operation(WarpOperation::kVote, last);
  if (in.opcode == "shfl") {
    set_operation(WarpOperation::kShuffle, last);
    decode_shuffle(in, operands, last, meeting);
  } else if (in.opcode == "vote") {
    decode_vote(in, operands, last, meeting);
  } else if (in.opcode == "match") {
    decode_match(in, operands, last, meeting);
  } else if (in.opcode == "redux") {
    decode_reduction(in, operands, last, meeting);
  } else if (is(in, "elect.sync")) {
    require_operands(in, 2, operands);
    set_results(in.operands[0], operands, last);
    *meeting = elect;
  } else if (is(in, "bar.warp.sync")) {
    require_operands(in, 1, operands);
    set_operation(WarpOperation::kBarrier, last);
    *meeting = warp_barrier;
  } else {
    operands.unsupported(in);
  }
  set_members(in, operands, last);
}

bool decode_warp(const ptx::Instruction& in, Operands& operands, Instruction* out) {
  if (in.opcode != "activemask") return false;
  if (!is(in, "activemask.b32")) operands.unsupported(in);
  require_operands(in, 1, operands);
  out->run = active_mask;
  set_operation(WarpOperation::kVote, out);
  out->d = operands.destination(in.operands[0], Type::kB32);
  if (out->d == 0) operands.unsupported(in);  // "_"
  return true;
}

}  // namespace krl::machine
