#include "plugins/backends/cpu/machine/memory/async_proxy.hpp"

#include <algorithm>
#include <bit>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/faults.hpp"

namespace krl::machine {

void AsyncProxy::reset_stamps() {
  before_barrier_ = 0;
  met_.fill(0);
  for (auto& lanes : own_) lanes.fill(0);
  learned_ = {};
}

void AsyncProxy::fence(AccessOrder& order, std::uint32_t warp, Mask lanes) {
  before_barrier_ = std::max(before_barrier_, order.last_barrier());
  met_[warp] = std::max(met_[warp], order.last_meeting_of_any(warp));
  const Who now = order.begin_interval(warp);
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) own_[warp][std::countr_zero(rest)] = now;
  learned_.join(order.learned(warp));
}

void BlockMemory::check_async_read(const Request& request, unsigned lane, std::uint32_t offset,
                                   std::uint32_t bytes) {
  constexpr std::uint32_t kChunk = 16;  // a part of it may be padding that nobody wrote
  Request word = request;               // as faults name it
  word.bytes = 4;
  word.write = false;
  for (std::uint32_t at = offset; at < offset + bytes; at += kChunk) {
    const std::uint32_t size = std::min(kChunk, offset + bytes - at);
    const SharedMemory::Outcome outcome =
        shared_.access(at, size, access_of(word, lane, true), order_);
    const Culprit culprit{launch_, word, lane, at};
    if (outcome.copy_under_way) throw_copy_under_way(culprit, outcome.conflict);
    if (outcome.verdict == Verdict::kRace) throw_race(culprit, true, outcome.conflict);
    if (outcome.verdict == Verdict::kUninitialised)
      throw_uninitialised(culprit, ptx::Space::kShared);
    if (outcome.encounter) note_encounter(word, true, lane, at);
  }
  check_proxy(request, lane, offset, bytes);
}

void BlockMemory::check_proxy(const Request& request, unsigned lane, std::uint32_t offset,
                              std::uint32_t bytes) const {
  const SharedMemory::Store store = shared_.find_store(
      offset, bytes, order_.block_begin(), [&](Who who) { return !proxy_.sees(who, order_); });
  if (store.who == 0) return;
  Request word = request;  // as the fault names it
  word.bytes = 4;
  word.write = false;
  throw_unfenced({launch_, word, lane, store.offset}, store.who);
}

}  // namespace krl::machine
