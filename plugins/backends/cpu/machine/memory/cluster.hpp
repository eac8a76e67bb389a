// A cluster: blocks that run at the same time, reach each other's shared memory and share a barrier
// (barrier.cluster). The blocks are named by their ranks. Belongs to the launch; used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/knowledge.hpp"

namespace krl::machine {

class BlockMemory;

class Cluster {
 public:
  // A block of so many threads joins with the next rank. Its memory outlives the cluster's use.
  void join(BlockMemory& memory, std::uint32_t threads);

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(members_.size()); }
  BlockMemory& memory(std::uint32_t rank) { return *members_[rank].memory; }
  bool has_ended(std::uint32_t rank) const { return members_[rank].ended; }
  // Knowledge that strong writes to shared memory of its blocks have published.
  SyncWords& words() { return words_; }

  // ---- the barrier: each thread arrives, and then waits, in turn ----

  // How threads arrive. `at_once`: their next instruction is the wait.
  struct Arrival {
    bool relaxed = false, at_once = false;
    std::uint32_t line = 0;
  };
  // Lanes of a warp arrive; lanes that have ended are not waited for. Throws Fault.
  void arrive(std::uint32_t rank, std::uint32_t warp, Mask lanes, const Arrival& arrival);
  void lanes_ended(std::uint32_t rank, std::uint32_t warp, Mask lanes);
  // Returns those of the lanes, which wait, for which everyone has arrived: they may leave. Throws
  // Fault if one of the lanes has not arrived itself.
  Mask may_leave(std::uint32_t rank, std::uint32_t warp, Mask lanes, std::uint32_t line) const;
  void leave(std::uint32_t rank, std::uint32_t warp, Mask lanes);
  // Counts the times that everyone has arrived.
  std::uint64_t phase() const { return phase_; }

  // ---- for the blocks ----

  // The block has ended. Throws Fault if others may still access its shared memory.
  void end_block(std::uint32_t rank);
  // No thread of the block can go on. True if none of the others' can either.
  bool stand_still(std::uint32_t rank);

 private:
  struct Lanes {
    Mask live = 0;
    Mask arrived = 0;  // in the present phase
    Mask at_once = 0;  // arrived, and have done nothing since; released at the end of the phase
    Mask passed = 0;   // arrived in the last phase, and have not left yet
  };
  struct Member {
    BlockMemory* memory = nullptr;
    bool ended = false;
    bool stands = false;  // since the last phase ended
    bool whole = false;   // the last phase was a barrier of the block, too
    std::vector<Lanes> warps;
    Knowledge released, relaxed;  // by arrivals of the present phase
  };
  // Knowledge that threads gain by waiting.
  struct Learned {
    Knowledge released;
    Knowledge before_end;  // with relaxed arrivals, which only keep blocks from ending
    double clocks = 0;     // the last arrival, where times are kept
  };

  void end_phase_if_complete();
  static bool all_at_once(const Member& member);
  void gather(Member& member);

  std::vector<Member> members_;
  SyncWords words_;
  std::uint32_t missing_ = 0;  // live threads that have not arrived
  bool begun_ = false;         // threads have arrived in the present phase
  std::uint64_t phase_ = 0;
  Learned present_, last_, before_last_;
};

}  // namespace krl::machine
