// The threads of one block: its warps, in an order on which a correct kernel does not depend, and
// their barriers. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {

class ThreadBlock {
 public:
  explicit ThreadBlock(LaunchMemory& launch) : memory_(launch) {}

  // All threads begin at the program's entry, where times are kept at `start`, in clocks. `order`
  // and `seed` decide whose turn it is. `cluster`: the block joins it; null: it is in none.
  void begin(Program& program, const BlockShape& shape, cpu::Order order, std::uint64_t seed,
             double start = 0, Cluster* cluster = nullptr);
  // Executes until the block has ended, about `steps` instructions of warps have been executed, or
  // all warps wait for what others do. Returns how many were. Throws Fault.
  std::uint64_t run(std::uint64_t steps);
  // Works in the same way, but the warps go on in the order of their times, until that of
  // `horizon`.
  std::uint64_t run_in_time(std::uint64_t steps, double horizon);
  // Returns the time of the warp that is behind the others; Warp::kNever if all wait for others, or
  // the block has ended.
  double time();
  double end_time() const { return memory_.now(0); }
  // Executes a turn for each warp, whose length depends on the order of `begin`: see cpu::Order.
  // Returns as run does.
  std::uint64_t run_side_by_side();
  bool ended() const { return ended_; }
  // Warps that wait in a loop for a change of memory go round it once more.
  void wake();
  // Counts the work of its warps, except for waiting.
  std::uint64_t progress() const;

  const BlockShape& shape() const { return shape_; }
  // The warp that ran last: the place of a fault.
  const Warp& running() const { return *running_; }
  BlockMemory& memory() { return memory_; }

 private:
  static constexpr std::size_t kBarriers = 16;

  // The threads waiting at one barrier.
  struct Barrier {
    std::uint32_t waiting = 0;       // threads that wait
    std::uint32_t arrived = 0;       // threads that arrived and continued (bar.arrive)
    std::uint32_t expected = 0;      // threads
    const BasicBlock* at = nullptr;  // where the first waiting thread waits
    bool whole_block = false;        // the barrier of all threads
  };

  std::uint64_t turn(Warp& warp, std::uint64_t steps, double horizon = Warp::kNever);
  std::uint64_t drawn_turn(Warp& warp);
  void vary_lanes(Warp& warp);
  Mask drawn_lanes();
  std::uint64_t draw(std::uint64_t end);
  bool end_round(bool progress);
  bool let_others_go_first();
  bool release_barriers();
  bool leave_cluster_barrier();
  static bool is_at(Warp& warp, Warp::State state);
  bool waits_for_cluster();
  void gather();
  void add(Warp& warp, Warp::Split& split, std::uint32_t live);
  std::uint32_t live_threads() const;
  bool is_complete(const Barrier& barrier) const;
  void release(std::uint32_t id);
  static void write_result(Warp::Split& split, std::uint32_t trues, std::uint32_t threads);
  std::uint32_t barrier_of(const Warp::Split& split) const;
  [[noreturn]] void fault_different_barriers(const BasicBlock& first, Warp& warp,
                                             const Warp::Split& split);
  [[noreturn]] void fault_deadlock();

  BlockMemory memory_;
  BlockShape shape_;
  std::deque<Warp> warps_;
  std::vector<std::uint32_t> order_;
  bool drawn_ = false;  // turns, from random_
  std::uint64_t random_ = 0;
  std::vector<std::uint32_t> held_;        // by warp: rounds without a turn
  std::vector<std::uint32_t> lanes_held_;  // by warp: basic blocks for which lanes are held
  Warp* running_ = nullptr;
  double time_ = 0;
  bool time_known_ = false;
  std::array<Barrier, kBarriers> barriers_;
  bool ended_ = false;
  Cluster* cluster_ = nullptr;
  std::uint64_t cluster_phase_ = 0;  // up to which waiting threads have continued
};

}  // namespace krl::machine
