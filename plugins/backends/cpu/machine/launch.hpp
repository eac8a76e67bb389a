// One launch: the blocks of a grid, in an order on which a correct kernel does not depend.
//
// Blocks are executed one after the other. A block that runs for long may be waiting for another
// one (a lock, a decoupled look-back): then several are resident and take turns, up and down the
// grid, so that a chain of blocks that wait for their neighbours finishes in one pass.
//
// Side by side, a window of blocks is resident from the start, and their warps take short turns.
// This is expensive, so it ends after some work, and the rest is executed block after block. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/memory/launch_memory.hpp"
#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/cpu/machine/thread_block.hpp"
#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::machine {

struct LaunchRequest {
  Dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  cpu::Order order = cpu::Order::kForward;
  std::uint64_t seed = 0;
  std::uint64_t work_limit = 0;  // instructions of warps, except for those executed side by side
};

struct LaunchOutcome {
  std::optional<cpu::Fault> fault;  // without run, launch and kernel
  std::uint64_t work = 0;           // as in the limit
};

// Executes blocks of a program in memory that has been got ready for the launch. Reused from launch
// to launch.
class GridRunner {
 public:
  explicit GridRunner(LaunchMemory& memory) : memory_(memory) {}

  LaunchOutcome run(Program& program, const LaunchRequest& request);

 private:
  using Block = std::unique_ptr<ThreadBlock>;

  void run_blocks();
  void run_side_by_side();
  void begin_block();
  template <class Turn>
  void for_each_resident(const Turn& take);
  void take_turn(ThreadBlock& block, std::uint64_t steps);
  std::uint64_t block_at(std::uint64_t n) const;
  Block next_block(std::uint64_t index);
  cpu::Fault described(const Fault& fault) const;

  LaunchMemory& memory_;
  Program* program_ = nullptr;
  LaunchRequest request_;
  std::uint64_t blocks_ = 0, begun_ = 0;
  std::uint64_t stride_ = 1, start_ = 0;
  std::uint64_t work_ = 0, side_by_side_ = 0;  // instructions
  std::uint64_t first_turn_ = 0;               // instructions
  bool upwards_ = true;
  std::map<std::uint64_t, Block> resident_;  // begun and not ended, by their place in the grid
  std::vector<Block> spare_;
  const ThreadBlock* running_ = nullptr;  // none while one is made ready
};

}  // namespace krl::machine
