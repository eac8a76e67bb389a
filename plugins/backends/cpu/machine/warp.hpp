// A warp: 32 lanes that execute each instruction together as far as their control flow allows.
//
// Divergent lanes form splits. The split at the lowest rank runs first, deeper calls before
// shallower ones, so that lanes reconverge where their paths join; splits at the same place are
// merged. A split that has waited for long, while others may be waiting for it, gets a turn
// regardless of its rank (independent thread scheduling). Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/frames.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/polls.hpp"
#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

class BlockMemory;

class Warp {
 public:
  Warp(std::uint32_t index, BlockMemory& memory) : memory_(memory), index_(index) {}
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  // ---- for operations ----
  BlockMemory& memory() { return memory_; }
  std::uint32_t index() const { return index_; }  // index in its block
  Mask live() const { return live_; }             // lanes that have not ended
  std::uint64_t clock() const { return steps_; }  // warp instructions executed so far
  Polls& polls() { return polls_; }
  const Polls& polls() const { return polls_; }
  // Lanes of the warp wait in an instruction, as Polls::saw.
  void saw(const Instruction& by, const WatchedWords& words) {
    polls_.saw(&by, running().apart, words);
  }

  // ---- for the block ----
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  // kHeld: could continue, but other lanes go first.
  enum class State : std::uint8_t { kReady, kAtMeeting, kAtBarrier, kAtCluster, kHeld };
  struct Split {
    BasicBlock* at = nullptr;
    std::byte* frame = nullptr;
    Mask mask = 0;
    Mask members = 0;  // members of the meeting that it waits for
    State state = State::kReady;
    bool apart = false;     // runs apart from the rest of the warp: see hold
    std::uint64_t ran = 0;  // the value of waiting_ when it ran last
  };

  // `lanes` begin at `entry`. `shape` outlives the call to run.
  void begin(Function& entry, Mask lanes, const BlockShape& shape);
  // Executes until every lane has ended or waits, or at least `steps` instructions have been
  // executed; a strong access later than `horizon`, in clocks, has to wait. Returns how many were;
  // 0 if the warp waits in a loop for a change of memory that has not come. Throws Fault.
  std::uint64_t run(std::uint64_t steps, double horizon = kNever);
  bool waits_for_change() { return polls_.waits(); }
  // Ends a wait in a loop, as if the awaited change had come.
  void wake() { polls_.wake(); }
  // Ends it in the same way, but other lanes of the warp go first. Returns false if there are none,
  // or they have had their turn since the warp last did anything else.
  bool let_others_go_first();
  // Lanes that would run next no longer do so with the others of the warp, but after them: until
  // let_go, or until the others have ended or wait. Nothing orders lanes that do not meet. Then
  // both go their own ways until all lanes meet; until then, only a whole split can be held.
  void hold(Mask lanes);
  // False: none were held.
  bool let_go();
  bool ended() const { return live_ == 0; }
  bool ready() const;  // a split can continue
  Split* begin_splits() { return splits_.data(); }
  Split* end_splits() { return splits_.data() + count_; }
  // The split, which is at a barrier or a meeting, continues after it.
  void release(Split& split);
  // All threads of the cluster have arrived: lanes that wait for them continue. False: none did.
  bool leave_cluster_barrier();
  // The last instruction that ran: the place of a fault.
  const Instruction* current() const { return current_; }

 private:
  Split& running() { return splits_[running_]; }
  void execute(const BasicBlock& block, const Split& split);
  bool finish(BasicBlock& block);
  void branch_if(BasicBlock& block);
  void branch_by_table(BasicBlock& block);
  void call(BasicBlock& block);
  void return_lanes();
  void end_lanes();
  void wait_for_cluster(BasicBlock& block);
  void meet(BasicBlock& block);
  void complete_meetings();
  void hold_meeting(Mask members, Meeting meeting);

  void split_off(Mask lanes, BasicBlock* at);
  void keep_only(Mask lanes, BasicBlock* elsewhere);
  void arrive(Split& split, BasicBlock* at);
  bool select();
  void merge();
  Split* favoured();
  void enter(Function& function, const Call& call, BasicBlock* returns_to);
  void set_special(const SpecialRow& special, std::byte* frame) const;
  void set_garbage(const Function& function, std::byte* frame, Mask mask);
  void fill_specials(const Function& function, std::byte* frame) const;
  void move_to_block(const Function& function, std::byte* frame) const;
  [[noreturn]] void fault(FaultKind kind, std::string message, int lane) const;

  BlockMemory& memory_;
  const std::uint32_t index_;
  const BlockShape* shape_ = nullptr;
  Mask live_ = 0;
  std::uint64_t steps_ = 0;
  std::array<Split, kLanes> splits_;
  std::size_t count_ = 0, running_ = 0;
  const Instruction* current_ = nullptr;
  std::uint64_t waiting_ = 0;  // grows with each block executed, faster with polling ones
  unsigned favoured_ = 0;      // a lane whose split goes first …
  std::uint32_t favour_ = 0;   // … for so many blocks
  Polls polls_;
  std::uint64_t gave_way_ = 0;  // polls_.work() when other lanes were last let go first

  Frames frames_;
  std::byte* top_ = nullptr;  // the entry's frame, kept from block to block
  Function* entry_ = nullptr;
  std::map<std::tuple<const std::byte*, const Call*, const Function*>, std::byte*> callees_;
};

}  // namespace krl::machine
