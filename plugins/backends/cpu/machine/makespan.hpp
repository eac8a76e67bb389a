// When the last block of a launch ends, if each begins where one that was resident has ended: how a
// GPU hands out blocks that do not wait for each other. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace krl::machine {

class Makespan {
 public:
  // Begins a launch with so many resident blocks.
  void begin(std::uint32_t resident) {
    resident_ = resident;
    ends_.clear();
    last_ = 0;
  }
  // The next block, in the order in which they begin, takes so long.
  void add(double clocks) {
    if (ends_.size() >= resident_) {
      std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
      clocks += ends_.back();
      ends_.pop_back();
    }
    ends_.push_back(clocks);
    std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
    last_ = std::max(last_, clocks);
  }
  double end() const { return last_; }

 private:
  std::uint32_t resident_ = 1;  // at least 1
  std::vector<double> ends_;    // ends of the resident blocks; the earliest is in front
  double last_ = 0;
};

}  // namespace krl::machine
