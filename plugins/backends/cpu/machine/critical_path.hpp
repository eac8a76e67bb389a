// The critical path of a block's slowest warp: chains of dependent instructions, loads, warp
// operations, barriers. Each kind is counted separately, so that the model of any GPU can assign
// its cost; over the warps the maximum of each is taken, so that a warp that waits much for one
// thing does not hide another that waits for something else.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {

// The level of memory where the slowest lane of a request finds its data.
enum class MemoryLevel : std::uint8_t { kNone, kShared, kL1, kL2, kDram };

// Element-wise maximum, where a wait for DRAM also counts as one for each nearer level; and the
// sum.
void raise(cpu::CriticalPath* path, const cpu::CriticalPath& other);
void add(cpu::CriticalPath* path, const cpu::CriticalPath& other);
double clocks_of(const cpu::CriticalPath& path, const cpu::PathClocks& each);

// The path of one warp since the last barrier.
class WarpPath {
 public:
  void begin() {
    path_ = {};
    waits_.clear();
    carried_ = MemoryLevel::kNone;
    carried_loads_ = 0;
    idle_ = 0;
  }

  // The warp executes a basic block.
  void enter(const BasicBlock& block) {
    if (block.begins_region) settle();
    if (block.uses_earlier_loads) settle_carried();
    path_.clocks += block.chain_clocks;
    path_.instructions += block.instructions;
    path_.warp_operations += block.classes[static_cast<std::size_t>(InstructionClass::kWarp)];
    path_.barriers += block.classes[static_cast<std::size_t>(InstructionClass::kBarrier)];
  }

  // A load, or an atomic operation, whose data is at `level`. Loads that decoding put into one
  // group wait once, for the slowest.
  void load(MemoryLevel level, const MemoryAccess& access) {
    if (access.carried) {
      carried_ = std::max(carried_, level);
      if (++carried_loads_ >= kCarriedLoads) settle_carried();
      return;
    }
    if (access.wait >= waits_.size()) waits_.resize(access.wait + 1);
    waits_[access.wait] = std::max(waits_[access.wait], level);
  }
  void atomic() { ++path_.atomics; }
  // Waits until earlier writes are in L2, which takes a round trip.
  void fence() { ++path_.l2_requests; }
  void loop(std::uint32_t turns) { path_.loop_turns += turns; }
  // The warp has waited so many clocks for warps of its block or the constant cache, and of other
  // blocks.
  void wait(double clocks, double for_other_blocks) {
    path_.waits += static_cast<std::uint64_t>(clocks + 0.5);
    idle_ += for_other_blocks;
  }
  // Returns the clocks of the interval so far, without waits for other blocks.
  double clocks(const cpu::PathClocks& each) const;
  double idle() const { return idle_; }

  // Returns the path of the present interval and begins a new one.
  cpu::CriticalPath end_interval() {
    settle();
    idle_ = 0;
    return std::exchange(path_, {});
  }

 private:
  static constexpr std::uint32_t kCarriedLoads = 16;  // an estimate: registers hold no more

  void settle() {
    for (const MemoryLevel level : waits_) wait(level);
    waits_.clear();
  }
  void settle_carried() {
    wait(carried_);
    carried_ = MemoryLevel::kNone;
    carried_loads_ = 0;
  }
  void wait(MemoryLevel level) { count(level, &path_); }
  static void count(MemoryLevel level, cpu::CriticalPath* path) {
    path->dram_requests += level == MemoryLevel::kDram;
    path->l2_requests += level == MemoryLevel::kL2;
    path->l1_requests += level == MemoryLevel::kL1;
    path->shared_requests += level == MemoryLevel::kShared;
  }

  cpu::CriticalPath path_;
  std::vector<MemoryLevel> waits_;  // waits of the present region, by group
  MemoryLevel carried_ = MemoryLevel::kNone;
  std::uint32_t carried_loads_ = 0;
  double idle_ = 0;  // clocks
};

// The path of a block. At a barrier, every warp waits for the slowest.
class BlockPath {
 public:
  void begin(std::uint32_t warps);
  WarpPath& warp(std::uint32_t index) { return warps_[index]; }
  // Warps have passed a barrier; or the block has ended.
  void join();
  const cpu::CriticalPath& path() const { return path_; }
  // Operations on one word of shared memory, each of which is a turn of a loop: one after the
  // other, whichever warps they are of.
  void loop(std::uint32_t offset, std::uint32_t turns) {
    hottest_ = std::max(hottest_, loops_[offset] += turns);
  }
  // Returns the clocks of a warp since the block began; idle() returns how many of these it waited
  // for other blocks.
  double clocks(std::uint32_t warp, const cpu::PathClocks& each) const {
    return clocks_of(path_, each) + warps_[warp].clocks(each) + idle(warp);
  }
  double idle(std::uint32_t warp) const { return idle_ + warps_[warp].idle(); }

 private:
  std::array<WarpPath, kWarpsPerBlock> warps_;
  std::uint32_t count_ = 0;
  cpu::CriticalPath path_;
  double idle_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> loops_;  // since the last barrier, by word
  std::uint32_t hottest_ = 0;
};

}  // namespace krl::machine
