// The critical path of a warp: what it executed and waited for. The loads of one basic block are
// under way together; the warp waits once, for the slowest.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::machine {

enum class MemoryLevel : std::uint8_t { kNone, kL1, kL2, kDram };

class MemoryPath {
 public:
  void begin() {
    path_ = {};
    slowest_ = MemoryLevel::kNone;
    shared_ = ordered_ = ordered_batch_ = false;
  }

  // `clock`: the same for all accesses of one execution of a basic block.
  void global_load(MemoryLevel level, std::uint64_t clock) {
    enter(clock);
    if (ordered_) end_batch();
    if (slowest_ == MemoryLevel::kNone) ordered_batch_ = ordered_;
    ordered_ = false;
    slowest_ = std::max(slowest_, level);
  }
  void shared_load(std::uint64_t clock) {
    enter(clock);
    shared_ = true;
  }
  // What a compiler may not move a later load before.
  void order() { ordered_ = true; }
  void atomic() { ++path_.atomics; }
  void warp_operation() { ++path_.warp_operations; }
  void barrier() {
    ++path_.barriers;
    order();
  }

  // `instructions`: that the warp has executed since it was made, in this block and before.
  const emulator::CriticalPath& end(std::uint64_t instructions) {
    end_batch();
    path_.instructions = instructions - instructions_;
    instructions_ = instructions;
    return path_;
  }

 private:
  void enter(std::uint64_t clock) {
    if (clock == clock_) return;
    end_batch();
    clock_ = clock;
  }
  void end_batch() {
    if (slowest_ == MemoryLevel::kDram) {
      ++path_.dram_requests;
      path_.ordered_dram_requests += ordered_batch_;
    } else if (slowest_ == MemoryLevel::kL2) {
      ++path_.l2_requests;
      path_.ordered_l2_requests += ordered_batch_;
    } else if (slowest_ == MemoryLevel::kL1) {
      ++path_.l1_requests;
      path_.ordered_l1_requests += ordered_batch_;
    }
    path_.shared_requests += shared_;
    slowest_ = MemoryLevel::kNone;
    shared_ = false;
  }

  emulator::CriticalPath path_;
  std::uint64_t clock_ = 0, instructions_ = 0;
  MemoryLevel slowest_ = MemoryLevel::kNone;
  bool shared_ = false;
  bool ordered_ = false;        // something has ordered what follows since the last load
  bool ordered_batch_ = false;  // … when the batch began
};

}  // namespace krl::machine
