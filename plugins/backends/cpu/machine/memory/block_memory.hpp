// The memory that the threads of one block see, with what is checked about it: shared memory and
// its shadow, the local memory of its threads, the order of its accesses. One object for each
// resident block, used for one block after another. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/identity.hpp"
#include "plugins/backends/cpu/machine/memory/launch_memory.hpp"
#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::machine {

inline constexpr std::uint32_t kWarpsPerBlock = 32;

enum class FenceScope : std::uint8_t { kBlock, kDevice };

class BlockMemory {
 public:
  explicit BlockMemory(LaunchMemory& launch);
  ~BlockMemory();

  // A new block of the launch begins: its shared and local memory have been written by nobody.
  void begin_block(std::uint32_t warps);

  // Threads of the block have passed a barrier: all accesses so far are ordered before all that
  // follow. (Of a barrier of some threads too: that leans to silence.)
  void barrier_passed();
  // Lanes of a warp have executed a warp-wide operation together: their accesses so far are ordered
  // before those that follow in the warp.
  void lanes_met(std::uint32_t warp, Mask lanes);
  // Lanes of a warp executed a fence, or an access that is one.
  void fence(std::uint32_t warp, Mask lanes, FenceScope scope);

  // The part of the critical path that memory knows of a warp: its requests, which wait for
  // memory once a basic block, and its atomics. Valid when the warp has ended.
  emulator::CriticalPath path_of(std::uint32_t warp);

  LaunchMemory& launch() { return launch_; }

 private:
  LaunchMemory& launch_;
};

}  // namespace krl::machine
