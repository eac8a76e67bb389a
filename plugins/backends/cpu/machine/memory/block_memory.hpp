// The memory that the threads of one block see, with what is checked about it. One object for each
// resident block.
//
// This is a sketch of what the machine's core needs; the memory part fills it in.
#pragma once

#include <cstdint>

#include "plugins/backends/cpu/machine/lanes.hpp"

namespace krl::machine {

class LaunchMemory;  // what all blocks of a launch share: buffers, variables, their shadow and
                     // counters

class BlockMemory {
 public:
  // All threads of the block have passed a barrier of all threads.
  void barrier_passed();
  // Lanes of a warp have executed a warp-wide operation together.
  void lanes_met(std::uint32_t warp, Mask lanes);
  // Lanes of a warp executed a fence (membar, fence).
  void fence(std::uint32_t warp, Mask lanes);
};

}  // namespace krl::machine
