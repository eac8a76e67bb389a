// One launch: the blocks of a grid, in an order on which a correct kernel does not depend.
//
// Blocks are executed one after the other. A block that waits for another one, or runs so long that
// it may be waiting (a lock, a decoupled look-back), lets others run: then several are resident and
// take turns, up and down the grid, so that a chain of blocks that wait for their neighbours
// finishes in one pass.
//
// No more blocks are resident than the GPU holds, and a GPU starts blocks in ascending order. If
// all of them wait then, it is a deadlock. In another order they may wait for blocks with lower
// numbers: then the rest begins in ascending order, as many as fit, next to the waiting ones.
//
// If times are kept, the blocks and warps that are behind in time go first, so that data which a
// warp reads from others is there if it would be on a GPU.
//
// The blocks of a cluster begin together, whatever the order; a block that is in none is handled
// like a cluster of one.
//
// Side by side, a window of blocks is resident from the start, and their warps take short turns.
// This is expensive, so it ends after some work, and the rest is executed block after block. Used
// by one thread.
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
#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {

struct LaunchRequest {
  Dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  cpu::Order order = cpu::Order::kForward;
  std::uint64_t seed = 0;
  std::uint64_t work_limit = 0;  // instructions of warps, except for those executed side by side
  std::uint32_t resident_blocks = 0;  // blocks that the GPU holds; 0: not known
};

struct LaunchOutcome {
  std::optional<cpu::Fault> fault;  // without run, launch and kernel
  std::uint64_t work = 0;           // counted as for the limit
};

// Executes blocks of a program in memory that has been got ready for the launch. Reused from launch
// to launch.
class GridRunner {
 public:
  explicit GridRunner(LaunchMemory& memory) : memory_(memory) {}

  LaunchOutcome run(Program& program, const LaunchRequest& request);

 private:
  using Block = std::unique_ptr<ThreadBlock>;
  // A cluster of which blocks are resident, and those that have ended: others may look for them.
  struct ResidentCluster {
    Cluster cluster;
    std::vector<Block> ended;
  };

  void start(Program& program, const LaunchRequest& request);
  void run_blocks();
  void run_side_by_side();
  void begin_blocks();
  template <class Turn>
  void for_each_resident(const Turn& take);
  void run_in_time();
  void take_turn(ThreadBlock& block, std::uint64_t steps, double horizon = 0);
  bool may_begin(std::size_t most) const;
  void end_standstill();
  [[noreturn]] void fault_deadlock();
  std::uint64_t cluster_at(std::uint64_t n) const;
  std::uint64_t next_cluster();
  void begin_rest_ascending();
  void begin_cluster(double start);
  Block next_block(std::uint64_t index, double start, Cluster* cluster);
  void put_away(Block block);
  cpu::Fault described(const Fault& fault) const;

  LaunchMemory& memory_;
  Program* program_ = nullptr;
  LaunchRequest request_;
  std::uint32_t cluster_blocks_ = 1;        // blocks of each cluster
  std::uint64_t clusters_ = 0, begun_ = 0;  // clusters
  std::uint64_t stride_ = 1, start_ = 0;
  bool ascending_ = true;
  std::vector<bool> was_begun_;        // by number of the cluster; used once the rest is to ascend
  std::uint64_t first_not_begun_ = 0;  // a lower bound
  std::uint64_t work_ = 0, side_by_side_ = 0;  // instructions
  std::uint64_t first_turn_ = 0;               // instructions
  std::size_t most_resident_ = 0;
  double free_since_ = 0;          // clocks, where times are kept: when the last block to end did
  std::uint64_t standstills_ = 0;  // one after another, without progress in between
  // Sum over all blocks; instructions when it last grew.
  std::uint64_t progress_ = 0, last_change_ = 0;
  bool upwards_ = true;
  std::map<std::uint64_t, Block> resident_;  // begun and not ended, by their place in the grid
  std::vector<std::uint64_t> places_;  // in the grid, where the blocks of the last cluster began
  std::vector<Block> spare_;
  std::map<std::uint64_t, std::unique_ptr<ResidentCluster>> held_;  // by number of the cluster
  std::map<const ThreadBlock*, std::uint64_t> cluster_of_;
  const ThreadBlock* running_ = nullptr;  // none while one is made ready
};

}  // namespace krl::machine
