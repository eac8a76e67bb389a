#include "plugins/backends/cpu/machine/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

#include "plugins/backends/cpu/machine/memory/address_space.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"

namespace krl::machine {
namespace {

// A split waits for so many blocks of others, or for fewer if they poll; then it has a turn.
constexpr std::uint64_t kPatience = 1 << 20, kPoll = kPatience / 64;
constexpr std::uint32_t kTurn = 64;  // blocks

constexpr std::uint32_t kDeepestCall = 4096;

int first_lane(Mask mask) { return std::countr_zero(mask); }

void copy_slot(std::byte* to_frame, const ParameterSlot& to, std::byte* from_frame,
               const ParameterSlot& from, Mask mask) {
  const std::uint32_t bytes = std::min(to.bytes, from.bytes);
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::memcpy(to_frame + to.offset + lane * to.bytes,
                from_frame + from.offset + lane * from.bytes, bytes);
  }
}

std::string hexadecimal(Mask mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

std::uint32_t lane_mask(Special which, std::uint32_t bit) {
  switch (which) {
    case Special::kLanemaskEq:
      return bit;
    case Special::kLanemaskLe:
      return bit | (bit - 1);
    case Special::kLanemaskLt:
      return bit - 1;
    case Special::kLanemaskGe:
      return ~(bit - 1);
    default:
      return ~(bit | (bit - 1));
  }
}

// The component of `of` that `which` names, where the special register of its x is `x`.
std::uint32_t component(const Dim3& of, Special which, Special x) {
  return of[static_cast<std::size_t>(which) - static_cast<std::size_t>(x)];
}

std::uint32_t special_value(Special which, std::uint32_t thread, const BlockShape& shape) {
  const Dim3& b = shape.block;
  switch (which) {
    case Special::kTidX:
      return thread % b[0];
    case Special::kTidY:
      return thread / b[0] % b[1];
    case Special::kTidZ:
      return thread / b[0] / b[1];
    case Special::kNtidX:
    case Special::kNtidY:
    case Special::kNtidZ:
      return component(b, which, Special::kNtidX);
    case Special::kCtaidX:
    case Special::kCtaidY:
    case Special::kCtaidZ:
      return component(shape.index, which, Special::kCtaidX);
    case Special::kNctaidX:
    case Special::kNctaidY:
    case Special::kNctaidZ:
      return component(shape.grid, which, Special::kNctaidX);
    case Special::kLaneId:
      return thread % kLanes;
    case Special::kWarpId:
      return thread / kLanes;
    case Special::kNwarpId:
      return (shape.threads() + kLanes - 1) / kLanes;
    case Special::kClusterIdX:
    case Special::kClusterIdY:
    case Special::kClusterIdZ:
      return component(shape.index, which, Special::kClusterIdX) /
             component(shape.cluster, which, Special::kClusterIdX);
    case Special::kNclusterIdX:
    case Special::kNclusterIdY:
    case Special::kNclusterIdZ:
      return component(shape.grid, which, Special::kNclusterIdX) /
             component(shape.cluster, which, Special::kNclusterIdX);
    case Special::kClusterCtaidX:
    case Special::kClusterCtaidY:
    case Special::kClusterCtaidZ:
      return component(shape.index, which, Special::kClusterCtaidX) %
             component(shape.cluster, which, Special::kClusterCtaidX);
    case Special::kClusterNctaidX:
    case Special::kClusterNctaidY:
    case Special::kClusterNctaidZ:
      return component(shape.cluster, which, Special::kClusterNctaidX);
    case Special::kClusterCtarank:
      return shape.rank();
    case Special::kClusterNctarank:
      return shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt:
      return lane_mask(which, std::uint32_t{1} << thread % kLanes);
    case Special::kDynamicSharedSize:
      return shape.dynamic_shared;
    case Special::kTotalSharedSize:
      return shape.static_shared + shape.dynamic_shared;
    case Special::kLocalVariable:
      break;
  }
  return 0;
}

bool goes_before(const Warp::Split& a, const Warp::Split& b) {
  const std::uint32_t depth_a = activation(a.frame).depth, depth_b = activation(b.frame).depth;
  return depth_a > depth_b || (depth_a == depth_b && a.at->rank < b.at->rank);
}

bool changes_with_block(Special which) {
  return (which >= Special::kCtaidX && which <= Special::kCtaidZ) ||
         (which >= Special::kClusterIdX && which <= Special::kClusterIdZ) ||
         (which >= Special::kClusterCtaidX && which <= Special::kClusterCtaidZ) ||
         which == Special::kClusterCtarank;
}

}  // namespace

void Warp::fault(FaultKind kind, std::string message, int lane) const {
  throw Fault{kind, std::move(message), current_ == nullptr ? 0 : current_->line, lane};
}

void Warp::begin(Function& entry, Mask lanes, const BlockShape& shape) {
  shape_ = &shape;
  if (entry_ != &entry) {
    frames_.clear();
    callees_.clear();
    current_ = nullptr;
    entry_ = &entry;
    top_ = frames_.add(entry, {&entry, nullptr, nullptr, nullptr, 0, 0});
    if (top_ == nullptr) fault(FaultKind::kStackOverflow, "a kernel with too many registers", -1);
    fill_specials(entry, top_);
    for (const Instruction& invariant : entry.invariants) {
      invariant.run(invariant, *this, top_, kAllLanes);
    }
  } else {
    move_to_block(entry, top_);
    for (const auto& [key, frame] : callees_) move_to_block(*std::get<const Function*>(key), frame);
  }
  set_garbage(entry, top_, kAllLanes);
  live_ = lanes;
  splits_[0] = {entry.blocks.data(), top_, lanes, 0, State::kReady, false, waiting_};
  count_ = 1;
  running_ = 0;
  favour_ = 0;
  polls_.begin();
  gave_way_ = 0;
}

void Warp::set_special(const SpecialRow& special, std::byte* frame) const {
  const std::uint32_t local = activation(frame).local_base + special.offset_of;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t value = special.which == Special::kLocalVariable
                                    ? local
                                    : special_value(special.which, index_ * kLanes + lane, *shape_);
    if (special.wide) {
      row<std::uint64_t>(frame, special.offset)[lane] = value;
    } else {
      row<std::uint32_t>(frame, special.offset)[lane] = value;
    }
  }
}

void Warp::fill_specials(const Function& function, std::byte* frame) const {
  for (const SpecialRow& special : function.specials) set_special(special, frame);
}

// Registers that may be read before they are written hold no one's values.
void Warp::set_garbage(const Function& function, std::byte* frame, Mask mask) {
  cpu::Garbage& garbage = memory_.launch().garbage();
  for (const auto& [offset, bytes] : function.unset) {
    const std::uint32_t* const values = garbage.take(bytes);
    const std::uint32_t each = bytes / kLanes;
    if (each == 0) {
      set_predicate(row<Mask>(frame, offset), mask, *values);
    } else if (mask == kAllLanes) {
      std::memcpy(frame + offset, values, bytes);
    } else {
      for (Mask rest = mask; rest != 0; rest &= rest - 1) {
        const std::uint32_t at = static_cast<std::uint32_t>(first_lane(rest)) * each;
        std::memcpy(frame + offset + at, reinterpret_cast<const std::byte*>(values) + at, each);
      }
    }
  }
}

// A frame of an earlier block of the launch becomes one of the present block.
void Warp::move_to_block(const Function& function, std::byte* frame) const {
  for (const SpecialRow& special : function.specials) {
    if (!changes_with_block(special.which)) continue;
    const std::uint32_t value = special_value(special.which, 0, *shape_);
    if (special.wide) {
      std::fill_n(row<std::uint64_t>(frame, special.offset), kLanes, std::uint64_t{value});
    } else {
      std::fill_n(row<std::uint32_t>(frame, special.offset), kLanes, value);
    }
  }
}

bool Warp::ready() const {
  return std::any_of(splits_.begin(), splits_.begin() + static_cast<std::ptrdiff_t>(count_),
                     [](const Split& split) { return split.state == State::kReady; });
}

std::uint64_t Warp::run(std::uint64_t steps, double horizon) {
  std::uint64_t done = 0;
  if (polls_.waits() || !select()) return 0;
  do {
    Split& split = running();
    BasicBlock& block = *split.at;
    if (block.yields && horizon < kNever && memory_.now(index_) > horizon) [[unlikely]]
      break;
    ++block.runs;
    block.lanes += static_cast<std::uint64_t>(std::popcount(split.mask));
    memory_.path(index_).enter(block);
    const std::uint64_t cost = std::max<std::uint64_t>(1, block.instructions);
    done += cost;
    steps_ += cost;
    waiting_ += block.polls ? kPoll : 1;
    polls_.work(block.works);
    split.ran = waiting_;
    execute(block, split);
    if (!finish(block)) break;
    if (block.polls && polls_.waits()) break;
  } while (done < steps);
  return done;
}

void Warp::hold(Mask lanes) {
  if (!select()) return;
  Split& next = running();
  const bool apart = next.apart;
  const auto is_apart = [&](const Split& split) { return split.apart != apart; };
  const auto is_ready = [](const Split& split) { return split.state == State::kReady; };
  if (std::any_of(begin_splits(), end_splits(), is_apart)) {
    const bool others_can = std::any_of(begin_splits(), end_splits(), [&](const Split& split) {
      return is_ready(split) && is_apart(split);
    });
    for (Split* split = begin_splits(); others_can && split != end_splits(); ++split) {
      if (is_ready(*split) && !is_apart(*split)) split->state = State::kHeld;
    }
    return;
  }
  lanes &= next.mask;
  if (lanes == 0) return;
  if (lanes == next.mask) {
    if (std::count_if(begin_splits(), end_splits(), is_ready) > 1) {
      next.state = State::kHeld;
      next.apart = !apart;
    }
    return;
  }
  next.mask &= ~lanes;
  Split& held = splits_[count_++];
  held = next;
  held.mask = lanes;
  held.state = State::kHeld;
  held.apart = !apart;
}

bool Warp::let_go() {
  bool found = false;
  for (Split* split = begin_splits(); split != end_splits(); ++split) {
    if (split->state != State::kHeld) continue;
    split->state = State::kReady;
    split->ran = waiting_;
    found = true;
  }
  return found;
}

bool Warp::let_others_go_first() {
  let_go();
  const auto is_ready = [](const Split& split) { return split.state == State::kReady; };
  if (std::count_if(begin_splits(), end_splits(), is_ready) < 2) return false;
  if (gave_way_ == polls_.work() + 1) return false;
  gave_way_ = polls_.work() + 1;
  waiting_ += kPatience;
  favour_ = 0;
  polls_.wake();
  return true;
}

void Warp::execute(const BasicBlock& block, const Split& split) {
  const Instruction* const all = activation(split.frame).function->instructions.data();
  std::byte* const frame = split.frame;
  const Mask mask = split.mask;
  for (const Instruction *next = all + block.first, *end = all + block.end; next != end; ++next) {
    current_ = next;
    Mask lanes = mask;
    if (next->guard != 0) {
      const Mask guard = *row<Mask>(frame, next->guard);
      lanes &= next->guard_negated ? ~guard : guard;
      if (lanes == 0) continue;
    }
    next->run(*next, *this, frame, lanes);
  }
}

// Executes the block's ending, and selects who continues. Returns false if no one can.
bool Warp::finish(BasicBlock& block) {
  BasicBlock* const blocks = activation(running().frame).function->blocks.data();
  current_ = &block.last;
  switch (block.ending) {
    case Ending::kNext:
      arrive(running(), &block + 1);
      break;
    case Ending::kBranch:
      arrive(running(), blocks + block.target);
      break;
    case Ending::kIf:
      branch_if(block);
      break;
    case Ending::kSwitch:
      branch_by_table(block);
      break;
    case Ending::kCall:
      call(block);
      break;
    case Ending::kReturn:
      return_lanes();
      break;
    case Ending::kExit:
      end_lanes();
      break;
    case Ending::kBarrier:
      running().state = State::kAtBarrier;
      break;
    case Ending::kClusterWait:
      wait_for_cluster(block);
      break;
    case Ending::kMeeting:
      meet(block);
      break;
  }
  if (count_ == 1 && splits_[0].state == State::kReady) {
    running_ = 0;
    return true;
  }
  return select();
}

// The split continues at `at`; with others that are there already it becomes one.
void Warp::arrive(Split& split, BasicBlock* at) {
  split.at = at;
  split.state = State::kReady;
  if (count_ == 1) return;
  for (std::size_t i = 0; i < count_; ++i) {
    Split& other = splits_[i];
    if (&other == &split || other.at != at || other.frame != split.frame ||
        other.state != State::kReady || other.apart != split.apart)
      continue;
    other.mask |= split.mask;
    other.ran = std::max(other.ran, split.ran);
    split = splits_[--count_];
    return;
  }
}

// Lanes of the running split go to `at`, as a separate split.
void Warp::split_off(Mask lanes, BasicBlock* at) {
  BasicBlock* const here = std::exchange(running().at, nullptr);  // they must not become one again
  running().mask &= ~lanes;
  Split& other = splits_[count_++];
  other = running();
  other.mask = lanes;
  arrive(other, at);
  running().at = here;
}

// The running split keeps `lanes`; the others go to `elsewhere`.
void Warp::keep_only(Mask lanes, BasicBlock* elsewhere) {
  if (const Mask others = running().mask & ~lanes; others != 0) split_off(others, elsewhere);
}

void Warp::branch_if(BasicBlock& block) {
  BasicBlock* const target = activation(running().frame).function->blocks.data() + block.target;
  const Mask predicate = *row<Mask>(running().frame, block.last.a);
  const Mask taken = (block.last.guard_negated ? ~predicate : predicate) & running().mask;
  if (taken == 0) return arrive(running(), &block + 1);
  if (taken == running().mask) return arrive(running(), target);
  split_off(taken, target);
  arrive(running(), &block + 1);
}

void Warp::branch_by_table(BasicBlock& block) {
  BasicBlock* const blocks = activation(running().frame).function->blocks.data();
  const std::uint32_t* index = row<std::uint32_t>(running().frame, block.last.a);
  const int lane = first_lane(running().mask);
  const std::uint32_t wanted = index[lane];
  if (wanted >= block.targets.size())
    fault(FaultKind::kTrap, "an indirect branch outside its table", lane);
  const Mask same = lanes_where([&](unsigned i) { return index[i] == wanted; }) & running().mask;
  keep_only(same, &block);
  arrive(running(), blocks + block.targets[wanted]);
}

void Warp::call(BasicBlock& block) {
  const Call& call = activation(running().frame).function->calls[block.target];
  if (call.callee != nullptr) return enter(*call.callee, call, &block + 1);
  const std::uint64_t* address = row<std::uint64_t>(running().frame, block.last.a);
  const int lane = first_lane(running().mask);
  const std::uint64_t wanted = address[lane];
  const auto found = std::find_if(call.candidates.begin(), call.candidates.end(),
                                  [&](const auto& candidate) { return candidate.first == wanted; });
  const bool fits = found != call.candidates.end() &&
                    found->second->parameters.size() == call.arguments.size() &&
                    found->second->results.size() == call.results.size();
  if (!fits)
    fault(FaultKind::kIllegalAddress,
          "an indirect call of something other than a function with this signature", lane);
  keep_only(lanes_where([&](unsigned i) { return address[i] == wanted; }), &block);
  enter(*found->second, call, &block + 1);
}

void Warp::enter(Function& function, const Call& call, BasicBlock* returns_to) {
  std::byte* const caller = running().frame;
  const Mask mask = running().mask;
  std::byte*& frame = callees_[{caller, &call, &function}];
  if (frame == nullptr) {
    const Activation& from = activation(caller);
    const std::uint32_t local_base = (from.local_base + from.function->local_bytes + 15) / 16 * 16;
    const bool fits = from.depth < kDeepestCall && local_base + function.local_bytes <= kLocalBytes;
    if (fits)
      frame =
          frames_.add(function, {&function, caller, returns_to, &call, from.depth + 1, local_base});
    if (frame == nullptr)
      fault(FaultKind::kStackOverflow, "nested calls overflow the stack", first_lane(mask));
    fill_specials(function, frame);
  }
  if (function.local_bytes > 0) {
    const std::uint32_t base = activation(frame).local_base;
    memory_.local(index_).forget(base, base + function.local_bytes, mask,
                                 memory_.launch().garbage());
  }
  set_garbage(function, frame, mask);
  for (std::size_t i = 0; i < std::min(call.arguments.size(), function.parameters.size()); ++i) {
    copy_slot(frame, function.parameters[i], caller, call.arguments[i], mask);
  }
  running().frame = frame;
  arrive(running(), function.blocks.data());
}

void Warp::return_lanes() {
  const Activation& from = activation(running().frame);
  if (from.caller == nullptr) return end_lanes();
  for (std::size_t i = 0; i < std::min(from.call->results.size(), from.function->results.size());
       ++i) {
    copy_slot(from.caller, from.call->results[i], running().frame, from.function->results[i],
              running().mask);
  }
  running().frame = from.caller;
  arrive(running(), from.returns_to);
}

void Warp::end_lanes() {
  live_ &= ~running().mask;
  memory_.lanes_ended(index_, running().mask);
  running() = splits_[--count_];
  complete_meetings();
}

void Warp::wait_for_cluster(BasicBlock& block) {
  Cluster& cluster = *memory_.cluster();
  const Mask leave = cluster.may_leave(memory_.rank(), index_, running().mask, block.last.line);
  if (leave == 0) {
    running().state = State::kAtCluster;
    return;
  }
  keep_only(leave, &block);
  cluster.leave(memory_.rank(), index_, leave);
  arrive(running(), &block + 1);
}

bool Warp::leave_cluster_barrier() {
  Mask left = 0;
  for (Split* split = begin_splits(); split != end_splits(); ++split) {
    if (split->state != State::kAtCluster) continue;
    Cluster& cluster = *memory_.cluster();
    if (cluster.may_leave(memory_.rank(), index_, split->mask, 0) == 0) continue;  // the next phase
    cluster.leave(memory_.rank(), index_, split->mask);
    release(*split);
    left |= split->mask;
  }
  return left != 0;
}

void Warp::meet(BasicBlock& block) {
  const Mask* members = row<Mask>(running().frame, block.last.e);
  const int lane = first_lane(running().mask);
  const Mask wanted = members[lane];
  keep_only(lanes_where([&](unsigned i) { return members[i] == wanted; }), &block);
  if (const Mask strangers = running().mask & ~wanted; strangers != 0) {
    fault(
        FaultKind::kDivergentBarrier,
        "a warp-wide operation of a thread that its mask " + hexadecimal(wanted) + " does not name",
        first_lane(strangers));
  }
  if ((wanted & live_ & ~running().mask) == 0) {
    const Party party = {&block.last, running().frame, running().mask};
    block.meeting(&party, 1, *this);
    memory_.lanes_met(index_, running().mask, live_);
    return arrive(running(), &block + 1);
  }
  running().state = State::kAtMeeting;
  running().members = wanted;
  hold_meeting(wanted, block.meeting);
}

// Holds the meeting of `members` if all of them that live have come.
void Warp::hold_meeting(Mask members, Meeting meeting) {
  std::array<Party, kLanes> parties;
  std::size_t count = 0;
  Mask present = 0;
  const auto takes_part = [&](const Split& split) {
    return split.state == State::kAtMeeting && split.members == members &&
           split.at->meeting == meeting;
  };
  for (Split* split = begin_splits(); split != end_splits(); ++split) {
    if (!takes_part(*split)) continue;
    present |= split->mask;
    // Lanes that were held up on their way are no party of their own.
    Party* const end = parties.data() + count;
    Party* const same = std::find_if(parties.data(), end, [&](const Party& party) {
      return party.at == &split->at->last && party.frame == split->frame;
    });
    if (same != end)
      same->mask |= split->mask;
    else
      parties[count++] = {&split->at->last, split->frame, split->mask};
  }
  if (count == 0 || (members & live_ & ~present) != 0) return;
  meeting(parties.data(), count, *this);
  memory_.lanes_met(index_, present, live_);
  for (Split* split = begin_splits(); split != end_splits(); ++split) {
    if (!takes_part(*split)) continue;
    const bool apart = split->apart && (live_ & ~present) != 0;
    release(*split);
    split->apart = apart;
  }
}

// Lanes that wait for lanes that have ended stop waiting.
void Warp::complete_meetings() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (splits_[i].state == State::kAtMeeting)
      hold_meeting(splits_[i].members, splits_[i].at->meeting);
  }
}

void Warp::release(Split& split) {
  ++split.at;
  split.apart = false;
  split.state = State::kReady;
  split.ran = waiting_;
}

// Splits released by a barrier or a meeting may be at the same place.
void Warp::merge() {
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t k = i + 1; k < count_;) {
      Split &a = splits_[i], &b = splits_[k];
      const bool same = a.state == State::kReady && b.state == State::kReady && a.at == b.at &&
                        a.frame == b.frame && a.apart == b.apart;
      if (!same) {
        ++k;
        continue;
      }
      a.mask |= b.mask;
      a.ran = std::max(a.ran, b.ran);
      b = splits_[--count_];
    }
  }
}

// Returns the split that goes first in any rank, because it has waited for long; null if there is
// none.
Warp::Split* Warp::favoured() {
  Split* longest = nullptr;
  for (Split* split = begin_splits(); split != end_splits(); ++split) {
    if (split->state != State::kReady) continue;
    if (favour_ > 0 && (split->mask >> favoured_ & 1) != 0) {
      --favour_;
      return split;
    }
    if (longest == nullptr || split->ran < longest->ran) longest = split;
  }
  if (longest == nullptr || waiting_ - longest->ran < kPatience) return nullptr;
  favoured_ = static_cast<unsigned>(first_lane(longest->mask));
  favour_ = kTurn;
  return longest;
}

// Selects the split that runs next. Returns false if none can continue.
bool Warp::select() {
  merge();
  const Split* best = favoured();
  if (best == nullptr) {
    for (const Split* split = begin_splits(); split != end_splits(); ++split) {
      if (split->state != State::kReady) continue;
      if (best == nullptr || goes_before(*split, *best)) best = split;
    }
  }
  if (best == nullptr) return let_go() && select();
  running_ = static_cast<std::size_t>(best - splits_.data());
  return true;
}

}  // namespace krl::machine
