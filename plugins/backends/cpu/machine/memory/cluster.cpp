#include "plugins/backends/cpu/machine/memory/cluster.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"

namespace krl::machine {
namespace {

std::uint32_t count_of(Mask mask) { return static_cast<std::uint32_t>(std::popcount(mask)); }

}  // namespace

void Cluster::join(BlockMemory& memory, std::uint32_t threads) {
  Member& member = members_.emplace_back();
  member.memory = &memory;
  for (std::uint32_t first = 0; first < threads; first += kLanes) {
    member.warps.push_back({kAllLanes >> (kLanes - std::min(kLanes, threads - first)), 0, 0, 0});
  }
  missing_ += threads;
}

void Cluster::arrive(std::uint32_t rank, std::uint32_t warp, Mask lanes, const Arrival& arrival) {
  Member& member = members_[rank];
  Lanes& own = member.warps[warp];
  if (const Mask again = lanes & (own.arrived | own.passed); again != 0) {
    throw Fault{FaultKind::kDivergentBarrier,
                "a thread arrives at the barrier of the cluster again before it has waited",
                arrival.line, std::countr_zero(again)};
  }
  own.arrived |= lanes;
  missing_ -= count_of(lanes);
  begun_ = true;
  if (arrival.at_once && !arrival.relaxed) {
    own.at_once |= lanes;
  } else {
    AccessOrder& order = member.memory->order();
    order.release_to_cluster(warp, lanes, last_.released,
                             arrival.relaxed ? &member.relaxed : &member.released);
    if (arrival.relaxed) member.released.join(order.fenced(warp, lanes));
  }
  if (member.memory->keeps_time())
    present_.clocks = std::max(present_.clocks, member.memory->now(warp));
  end_phase_if_complete();
}

void Cluster::lanes_ended(std::uint32_t rank, std::uint32_t warp, Mask lanes) {
  Lanes& own = members_[rank].warps[warp];
  missing_ -= count_of(lanes & ~own.arrived);
  own.live &= ~lanes;
  end_phase_if_complete();
}

Mask Cluster::may_leave(std::uint32_t rank, std::uint32_t warp, Mask lanes,
                        std::uint32_t line) const {
  const Lanes& own = members_[rank].warps[warp];
  if (const Mask strangers = lanes & ~(own.arrived | own.passed); strangers != 0) {
    throw Fault{FaultKind::kDivergentBarrier,
                "a thread waits at the barrier of the cluster, but has not arrived there", line,
                std::countr_zero(strangers)};
  }
  return lanes & own.passed;
}

void Cluster::leave(std::uint32_t rank, std::uint32_t warp, Mask lanes) {
  Member& member = members_[rank];
  member.warps[warp].passed &= ~lanes;
  BlockMemory& memory = *member.memory;
  if (!member.whole) memory.order().learn(warp, last_.released, before_last_.released);
  memory.know_before_end(last_.before_end, before_last_.before_end);
  if (!memory.keeps_time()) return;
  if (const double late = last_.clocks - memory.now(warp); late > 0)
    memory.path(warp).wait(0, late);
}

// True if all of the block's threads arrived, and have waited since: a barrier of the block.
bool Cluster::all_at_once(const Member& member) {
  const auto at_once = [](const Lanes& warp) { return warp.live == warp.at_once; };
  const auto lives = [](const Lanes& warp) { return warp.live != 0; };
  return std::all_of(member.warps.begin(), member.warps.end(), at_once) &&
         std::any_of(member.warps.begin(), member.warps.end(), lives);
}

// Everyone in the block has arrived: adds what that releases to what the cluster learns. Threads
// know all that the last phase released.
void Cluster::gather(Member& member) {
  AccessOrder& order = member.memory->order();
  member.whole = all_at_once(member);
  Knowledge released = std::exchange(member.released, {});
  if (member.whole) {
    member.memory->barrier_passed();
    released.join(order.before_barrier());
  } else {
    for (std::uint32_t warp = 0; warp < member.warps.size(); ++warp) {
      const Mask lanes = member.warps[warp].at_once;
      if (lanes != 0) order.release_to_cluster(warp, lanes, last_.released, &released);
    }
    if (!released.empty()) released.join(order.known());
  }
  present_.released.join(released);
  present_.before_end.join(std::exchange(member.relaxed, {}));
}

void Cluster::end_phase_if_complete() {
  if (missing_ != 0 || !begun_) return;
  present_.released = last_.released;
  if (!(last_.before_end == last_.released)) present_.before_end = last_.before_end;
  for (Member& member : members_) gather(member);
  if (present_.before_end.empty()) {
    present_.before_end = present_.released;
  } else {
    present_.before_end.join(present_.released);
  }
  before_last_ = std::exchange(last_, std::exchange(present_, {}));
  begun_ = false;
  ++phase_;
  for (Member& member : members_) {
    member.stands = false;
    if (member.whole) member.memory->order().learn(last_.released, before_last_.released);
    for (Lanes& warp : member.warps) {
      warp.passed |= std::exchange(warp.arrived, 0) & warp.live;
      warp.at_once = 0;
      missing_ += count_of(warp.live);
    }
  }
}

void Cluster::end_block(std::uint32_t rank) {
  Member& member = members_[rank];
  member.ended = true;
  member.memory->check_peers_are_done();
}

bool Cluster::stand_still(std::uint32_t rank) {
  members_[rank].stands = true;
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.ended || member.stands; });
}

}  // namespace krl::machine
