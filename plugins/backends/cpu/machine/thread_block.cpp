#include "plugins/backends/cpu/machine/thread_block.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "plugins/backends/cpu/machine/one_barrier.hpp"

namespace krl::machine {
namespace {

// Instructions that a warp may execute before another has its turn: what spins waits for others.
constexpr std::uint64_t kWarpSteps = 20'000;

// Drawn turns: the longest, in basic blocks; and after how many of these a warp is held up once,
// anywhere and after the held line, for 2 ^ kShortestHoldUp to 2 ^ kLongestHoldUp rounds.
constexpr std::uint64_t kLongestTurn = 8;
constexpr std::uint64_t kHoldUps = 512, kHoldUpsOfLine = 2;
constexpr std::uint64_t kShortestHoldUp = 4, kLongestHoldUp = 9;
// … and after how many basic blocks some lanes of a warp are held, for up to 2 ^ kLongestLaneHold.
constexpr std::uint64_t kLaneHolds = 8, kLongestLaneHold = 6;

constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // makes seeds side by side different

std::uint32_t count_of(Mask mask) { return static_cast<std::uint32_t>(std::popcount(mask)); }

}  // namespace

void ThreadBlock::begin(Program& program, const BlockShape& shape, cpu::Order order,
                        std::uint64_t seed, double start, Cluster* cluster) {
  shape_ = shape;
  ended_ = time_known_ = false;
  cluster_ = cluster;
  cluster_phase_ = 0;
  barriers_ = {};
  const std::uint32_t threads = shape.threads(), count = (threads + kLanes - 1) / kLanes;
  if (cluster != nullptr) cluster->join(memory_, threads);
  memory_.begin_block(count, start, cluster);
  while (warps_.size() < count)
    warps_.emplace_back(static_cast<std::uint32_t>(warps_.size()), memory_);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t lanes = std::min(kLanes, threads - i * kLanes);
    warps_[i].begin(*program.entry, kAllLanes >> (kLanes - lanes), shape_);
  }
  running_ = &warps_.front();
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0u);
  if (order == cpu::Order::kReversed) std::reverse(order_.begin(), order_.end());
  drawn_ = order == cpu::Order::kDrawn;
  random_ = seed * kSpread | 1;
  held_.assign(count, 0);
  lanes_held_.assign(count, 0);
  if (order == cpu::Order::kShuffled) {
    std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(seed % count),
                order_.end());
  }
}

std::uint64_t ThreadBlock::run(std::uint64_t steps) {
  if (std::exchange(drawn_, false)) {  // no longer side by side
    for (const std::uint32_t index : order_) warps_[index].let_go();
  }
  std::uint64_t done = 0;
  while (done < steps) {
    const std::uint64_t before = done;
    bool ready = false;
    for (const std::uint32_t index : order_) {
      Warp& warp = warps_[index];
      if (!warp.ready()) continue;
      done += turn(warp, std::min(kWarpSteps, steps));
      ready = true;
    }
    const bool released = end_round(ready);
    if (ended_) return done;
    if (done == before && !released && !let_others_go_first()) return done;
  }
  return done;
}

// Leaves no barrier that is complete, nor an end unnoticed: `time` would tell nothing of them.
std::uint64_t ThreadBlock::run_in_time(std::uint64_t steps, double horizon) {
  std::uint64_t done = 0;
  time_known_ = false;
  while (true) {
    Warp* first = nullptr;
    bool ready = false;
    double earliest = Warp::kNever, next = horizon;
    for (const std::uint32_t index : order_) {
      Warp& warp = warps_[index];
      if (!warp.ready()) continue;
      ready = true;
      if (warp.waits_for_change()) continue;
      const double now = memory_.now(index);
      if (now < earliest) {
        next = std::min(next, earliest);
        earliest = now;
        first = &warp;
      } else {
        next = std::min(next, now);
      }
    }
    if (first != nullptr) {
      if (done >= steps || earliest > horizon) break;
      done += turn(*first, std::min(kWarpSteps, steps), next);
    } else {
      const bool released = end_round(ready);
      if (ended_ || (!released && !let_others_go_first())) break;
    }
  }
  return done;
}

double ThreadBlock::time() {
  if (cluster_ != nullptr && leave_cluster_barrier()) time_known_ = false;
  if (time_known_) return time_;
  time_known_ = true;
  time_ = Warp::kNever;
  for (const std::uint32_t index : order_) {
    if (!warps_[index].ready()) continue;
    if (warps_[index].waits_for_change()) {
      time_known_ = false;  // others may end the wait
    } else {
      time_ = std::min(time_, memory_.now(index));
    }
  }
  return time_;
}

void ThreadBlock::wake() {
  time_known_ = false;
  for (const std::uint32_t index : order_) warps_[index].wake();
}

std::uint64_t ThreadBlock::progress() const {
  return std::accumulate(
      order_.begin(), order_.end(), std::uint64_t{0},
      [this](std::uint64_t sum, std::uint32_t i) { return sum + warps_[i].polls().work(); });
}

// Lanes of warps that wait in a loop may wait for other lanes of their warp.
bool ThreadBlock::let_others_go_first() {
  bool found = false;
  for (const std::uint32_t index : order_) found |= warps_[index].let_others_go_first();
  return found;
}

std::uint64_t ThreadBlock::run_side_by_side() {
  std::uint64_t done = 0;
  bool waits = true;
  for (const std::uint32_t index : order_) {
    Warp& warp = warps_[index];
    if (!warp.ready()) continue;
    waits = false;
    done += drawn_ ? drawn_turn(warp) : turn(warp, 1);
  }
  if (done > 0 || waits) end_round(!waits);
  return done;
}

std::uint64_t ThreadBlock::turn(Warp& warp, std::uint64_t steps, double horizon) {
  Warp* const before = std::exchange(running_, &warp);
  const std::uint64_t done = warp.run(steps, horizon);
  if (done == 0) running_ = before;
  return done;
}

std::uint64_t ThreadBlock::drawn_turn(Warp& warp) {
  std::uint32_t& held = held_[warp.index()];
  if (held > 0) {
    --held;
    return 0;
  }
  std::uint64_t done = 0;
  for (std::uint64_t left = draw(2) == 0 ? 1 : draw(kLongestTurn) + 1; left > 0; --left) {
    vary_lanes(warp);
    done += turn(warp, 1);
    if (draw(memory_.take_held() ? kHoldUpsOfLine : kHoldUps) == 0) {
      held = 1u << (kShortestHoldUp + draw(kLongestHoldUp - kShortestHoldUp + 1));
      break;
    }
    if (!warp.ready()) break;
  }
  return done;
}

// Now and then lanes that would run next have to wait for the others of their warp.
void ThreadBlock::vary_lanes(Warp& warp) {
  std::uint32_t& left = lanes_held_[warp.index()];
  if (left > 0) {
    if (--left == 0) warp.let_go();
  } else if (draw(kLaneHolds) == 0) {
    warp.hold(drawn_lanes());
    left = 1u << draw(kLongestLaneHold + 1);
  }
}

// All, one side of a lane, or any.
Mask ThreadBlock::drawn_lanes() {
  const Mask half = kAllLanes << draw(kLanes);
  switch (draw(4)) {
    case 0:
      return kAllLanes;
    case 1:
      return half;
    case 2:
      return ~half;
    default:
      return static_cast<Mask>(draw(std::uint64_t{1} << kLanes));
  }
}

// Less than `end`.
std::uint64_t ThreadBlock::draw(std::uint64_t end) {
  random_ ^= random_ >> 12;  // xorshift64*
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return (random_ * 0x2545f4914f6cdd1d >> 32) % end;
}

// All warps have had a turn; `progress`: one of them could continue. True: others can now.
bool ThreadBlock::end_round(bool progress) {
  const auto is_over = [this](std::uint32_t index) { return warps_[index].ended(); };
  if (std::all_of(order_.begin(), order_.end(), is_over)) {
    ended_ = true;
    memory_.end_block();
    return false;
  }
  bool released = release_barriers();
  if (cluster_ != nullptr) [[unlikely]]
    released |= leave_cluster_barrier();
  if (!released && !progress && !waits_for_cluster()) fault_deadlock();
  return released;
}

// Threads that wait for the cluster continue if all of it has arrived. False: none did.
bool ThreadBlock::leave_cluster_barrier() {
  if (std::exchange(cluster_phase_, cluster_->phase()) == cluster_->phase()) return false;
  bool left = false;
  for (const std::uint32_t index : order_) left |= warps_[index].leave_cluster_barrier();
  return left;
}

bool ThreadBlock::is_at(Warp& warp, Warp::State state) {
  return std::any_of(warp.begin_splits(), warp.end_splits(),
                     [=](const Warp::Split& split) { return split.state == state; });
}

// No thread of the block can go on. True if one may do so once other blocks have arrived.
bool ThreadBlock::waits_for_cluster() {
  const bool waits =
      cluster_ != nullptr && std::any_of(order_.begin(), order_.end(), [this](std::uint32_t index) {
        return is_at(warps_[index], Warp::State::kAtCluster);
      });
  return waits && !cluster_->stand_still(memory_.rank());
}

std::uint32_t ThreadBlock::barrier_of(const Warp::Split& split) const {
  const std::uint32_t* id = row<std::uint32_t>(split.frame, split.at->last.a);
  const int lane = std::countr_zero(split.mask);
  const bool differs =
      (lanes_where([&](unsigned i) { return id[i] != id[lane]; }) & split.mask) != 0;
  if (differs || id[lane] >= kBarriers) {
    throw Fault{FaultKind::kDivergentBarrier,
                "threads of a warp name different barriers, or one that does not exist",
                split.at->last.line, lane};
  }
  return id[lane];
}

// Threads that have ended no longer count for a barrier of the whole block.
std::uint32_t ThreadBlock::live_threads() const {
  return std::accumulate(
      order_.begin(), order_.end(), 0u,
      [this](std::uint32_t sum, std::uint32_t i) { return sum + count_of(warps_[i].live()); });
}

// Counts the threads that wait at each barrier; threads that only arrive continue.
void ThreadBlock::gather() {
  const std::uint32_t live = live_threads();
  for (Barrier& barrier : barriers_)
    barrier = {0, barrier.arrived, barrier.expected, nullptr, barrier.whole_block};
  for (const std::uint32_t index : order_) {
    Warp& warp = warps_[index];
    for (Warp::Split* split = warp.begin_splits(); split != warp.end_splits(); ++split) {
      if (split->state == Warp::State::kAtBarrier) add(warp, *split, live);
    }
  }
}

void ThreadBlock::add(Warp& warp, Warp::Split& split, std::uint32_t live) {
  Barrier& barrier = barriers_[barrier_of(split)];
  const BasicBlock& at = *split.at;
  barrier.whole_block = !at.barrier.counted;
  barrier.expected = live;
  if (at.barrier.counted) {
    barrier.expected = row<std::uint32_t>(split.frame, at.last.b)[std::countr_zero(split.mask)];
  }
  if (at.barrier.kind == BarrierRequest::kArrive) {
    barrier.arrived += count_of(split.mask);
    warp.release(split);
    return;
  }
  const bool one =
      barrier.at == nullptr || is_one_barrier(*activation(split.frame).function, *barrier.at, at);
  if (!one && barrier.whole_block) fault_different_barriers(*barrier.at, warp, split);
  barrier.at = &at;
  barrier.waiting += count_of(split.mask);
}

void ThreadBlock::fault_different_barriers(const BasicBlock& first, Warp& warp,
                                           const Warp::Split& split) {
  running_ = &warp;
  const std::uint32_t one = first.last.line, other = split.at->last.line;
  throw Fault{FaultKind::kDivergentBarrier,
              "threads of the block wait at different barriers: " +
                  (one == other ? "two of line " + std::to_string(other)
                                : "in line " + std::to_string(one) + " and in line " +
                                      std::to_string(other)),
              other, std::countr_zero(split.mask)};
}

bool ThreadBlock::is_complete(const Barrier& barrier) const {
  return barrier.waiting > 0 && barrier.waiting + barrier.arrived >= barrier.expected;
}

bool ThreadBlock::release_barriers() {
  gather();
  bool released = false;
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    if (!is_complete(barriers_[id])) continue;
    release(id);
    released = true;
  }
  return released;
}

void ThreadBlock::release(std::uint32_t id) {
  Barrier& barrier = barriers_[id];
  const bool reduces = barrier.at->barrier.kind != BarrierRequest::kSync;
  std::uint32_t trues = 0;
  std::vector<std::pair<Warp*, Warp::Split*>> released;
  for (const std::uint32_t index : order_) {
    for (Warp::Split* split = warps_[index].begin_splits(); split != warps_[index].end_splits();
         ++split) {
      if (split->state != Warp::State::kAtBarrier || barrier_of(*split) != id) continue;
      released.emplace_back(&warps_[index], split);
      if (reduces) trues += count_of(*row<Mask>(split->frame, split->at->last.c) & split->mask);
    }
  }
  for (const auto& [warp, split] : released) {
    if (reduces) write_result(*split, trues, barrier.waiting);
    warp->release(*split);
  }
  barrier = {};
  memory_.barrier_passed();
}

void ThreadBlock::write_result(Warp::Split& split, std::uint32_t trues, std::uint32_t threads) {
  const Instruction& last = split.at->last;
  if (last.d == 0) return;
  const BarrierRequest::Kind kind = split.at->barrier.kind;
  if (kind == BarrierRequest::kCount) {
    set_lanes(row<std::uint32_t>(split.frame, last.d), split.mask, [&](unsigned) { return trues; });
    return;
  }
  const bool holds = kind == BarrierRequest::kAnd ? trues == threads : trues > 0;
  set_predicate(row<Mask>(split.frame, last.d), split.mask, holds ? kAllLanes : 0);
}

// Every thread waits, and nothing that they wait for can happen. Threads that wait for lanes of
// their own warp tell more about the cause than threads that wait for a barrier.
void ThreadBlock::fault_deadlock() {
  for (const Warp::State state :
       {Warp::State::kAtMeeting, Warp::State::kAtBarrier, Warp::State::kAtCluster}) {
    for (const std::uint32_t index : order_) {
      Warp& warp = warps_[index];
      for (Warp::Split* split = warp.begin_splits(); split != warp.end_splits(); ++split) {
        if (split->state != state) continue;
        running_ = &warp;
        throw Fault{
            FaultKind::kDivergentBarrier,
            state == Warp::State::kAtMeeting
                ? "a warp-wide operation waits for lanes of its mask that never arrive: they "
                  "wait elsewhere"
            : state == Warp::State::kAtBarrier
                ? "threads wait at a barrier that others never reach"
                : "threads wait at the barrier of the cluster, at which others never arrive",
            split->at->last.line, std::countr_zero(split->mask)};
      }
    }
  }
  throw Fault{FaultKind::kDivergentBarrier, "threads wait for each other", 0, -1};
}

}  // namespace krl::machine
