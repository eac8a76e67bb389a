// The asynchronous copies of a warp to shared memory (cp.async). Data arrives when the thread that
// requested it waits; until then the destination must not be accessed. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine/lanes.hpp"

namespace krl::machine {

class AsyncCopies {
 public:
  // The copies that one instruction began.
  struct Copy {
    Mask under_way = 0;
    std::uint32_t bytes = 0;                     // bytes per lane; at most 16
    std::array<std::uint32_t, kLanes> offset{};  // offsets in shared memory
    std::array<std::uint32_t, kLanes> group{};
    std::array<std::array<std::byte, 16>, kLanes> data;
  };

  void begin_block() {
    copies_.clear();
    group_.fill(0);
  }
  // The copy's groups are filled in.
  void begin(Copy copy) {
    copy.group = group_;
    copies_.push_back(std::move(copy));
  }
  // Lanes end their present group.
  void commit(Mask lanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane) group_[lane] += lanes >> lane & 1;
  }
  // Lanes wait until at most `pending` of the groups that they committed are under way.
  // arrive(copy, lane) is called for each that arrives.
  template <class Arrive>
  void wait(Mask lanes, std::uint32_t pending, Arrive arrive) {
    finish(lanes, arrive, [&](const Copy& copy, unsigned lane) {
      return copy.group[lane] + pending < group_[lane];
    });
  }
  // … until all that they began have arrived, committed or not.
  template <class Arrive>
  void wait_all(Mask lanes, Arrive arrive) {
    finish(lanes, arrive, [](const Copy&, unsigned) { return true; });
  }
  bool under_way() const { return !copies_.empty(); }

 private:
  template <class Arrive, class Due>
  void finish(Mask lanes, Arrive arrive, Due due) {
    for (Copy& copy : copies_) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((copy.under_way & lanes & Mask{1} << lane) == 0 || !due(copy, lane)) continue;
        arrive(copy, lane);
        copy.under_way &= ~(Mask{1} << lane);
      }
    }
    std::erase_if(copies_, [](const Copy& copy) { return copy.under_way == 0; });
  }

  std::vector<Copy> copies_;
  std::array<std::uint32_t, kLanes> group_{};  // committed by each lane
};

}  // namespace krl::machine
