// The asynchronous proxy of a block: bulk copies and wgmma access shared memory past the path of
// ordinary loads and stores. An ordinary store is visible to it only after fence.proxy.async, by the
// thread that stored, or by one that the store is ordered before.
//
// It is known which stores came before some thread's fence, but not if that fence is ordered before
// the asynchronous access: this leans to silence. Used by one thread.
#pragma once

#include <array>
#include <cstdint>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/order.hpp"

namespace krl::machine {

class AsyncProxy {
 public:
  void begin_block() {
    if (!learned_.empty()) learned_ = {};
  }
  // Stamps begin with the lowest again; all stores so far count as ordered.
  void reset_stamps();
  // Lanes of a warp execute fence.proxy.async.
  void fence(AccessOrder& order, std::uint32_t warp, Mask lanes);
  // True if a store of this block to shared memory came before a fence.
  bool sees(Who store, const AccessOrder& order) const {
    if (store < before_barrier_ || store <= AccessOrder::kOrdered) return true;
    const std::uint32_t warp = warp_of(store);
    return store < own_[warp][lane_of(store)] || store < met_[warp] ||
           (!learned_.empty() && order.covers(learned_, store));
  }

 private:
  Who before_barrier_ = 0;                 // fenced: all stores before the last barrier then
  std::array<Who, kWarpsPerBlock> met_{};  // … of a warp, before its last warp-wide operation
  std::array<std::array<Who, kLanes>, kWarpsPerBlock> own_{};  // … of a thread
  Knowledge learned_;  // … and what the fencing warps had learned
};

}  // namespace krl::machine
