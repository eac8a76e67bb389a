// A warp: 32 lanes that execute one instruction together as far as their control flow allows.
//
// Lanes that branch apart become splits. Of the splits the one at the lowest rank goes first
// (deeper calls before shallower ones), so that lanes meet again where their paths join; splits at
// the same place are merged. After many steps without a meeting another split has its turn, so that
// a lane that others wait for goes on (independent thread scheduling). One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

class BlockMemory;
struct BlockShape;

// The rows of one call of a function by some lanes of a warp. The frame begins with it.
struct Activation {
  const Function* function = nullptr;
  Activation* caller = nullptr;            // null: of an entry
  const BasicBlock* returns_to = nullptr;  // in the caller
  const Call* call = nullptr;
  std::uint32_t depth = 0;
  std::uint32_t local_base = 0;  // where its variables begin in each lane's local memory, bytes

  std::byte* frame() { return reinterpret_cast<std::byte*>(this); }
};
inline Activation& activation(std::byte* frame) { return *reinterpret_cast<Activation*>(frame); }

class Warp {
 public:
  Warp(std::uint32_t index, BlockMemory& memory) : memory_(memory), index_(index) {}

  // ---- for operations ----
  BlockMemory& memory() { return memory_; }
  std::uint32_t index() const { return index_; }  // in its block
  Mask live() const { return live_; }             // lanes that have not ended
  std::uint64_t clock() const { return steps_; }  // grows with what was executed
  // Memory for an operation's intermediate rows: no operation keeps anything there.
  struct alignas(kRowAlignment) Scratch {
    std::byte bytes[32 * 128];
  };
  Scratch& scratch() { return scratch_; }

  // ---- for the block ----
  enum class State : std::uint8_t { kReady, kAtMeeting, kAtBarrier };
  struct Split {
    const BasicBlock* at = nullptr;
    std::byte* frame = nullptr;
    Mask mask = 0;
    State state = State::kReady;
    Mask members = 0;           // of the meeting that it waits for
    std::uint32_t barrier = 0;  // that it waits for
  };

  // All lanes of `threads` begin at `entry`.
  void begin(const Function& entry, Mask lanes, const BlockShape& shape);
  // Executes until every lane has ended or waits, or `steps` basic blocks have been executed.
  // Returns what is left of `steps`. Throws Fault.
  std::int64_t run(std::int64_t steps);
  bool ended() const { return live_ == 0; }
  bool ready() const;  // a split can go on
  std::array<Split, kLanes>& splits() { return splits_; }
  std::size_t split_count() const { return count_; }
  // The split goes on with the block after its barrier.
  void pass_barrier(Split& split);
  // The instruction that ran last, for the place of a fault.
  const Instruction* current() const { return current_; }

 private:
  const BlockShape* shape_ = nullptr;
  BlockMemory& memory_;
  const std::uint32_t index_;
  Mask live_ = 0;
  std::uint64_t steps_ = 0;
  std::array<Split, kLanes> splits_;
  std::size_t count_ = 0, running_ = 0;
  const Instruction* current_ = nullptr;
  Scratch scratch_;

  void execute(const BasicBlock& block, std::byte* frame, Mask mask);
  void end_block(const BasicBlock& block);
  void branch(const BasicBlock& block);
  void branch_by_table(const BasicBlock& block);
  void call(const BasicBlock& block);
  void return_from(const BasicBlock& block);
  void end_lanes();
  void wait_at_barrier(const BasicBlock& block);
  void meet(const BasicBlock& block);
  bool meet_group(const BasicBlock& block, Mask group, Mask members);
  void go_to(const BasicBlock& block);
  void select();
  void merge();
  void remove(std::size_t split);
  std::byte* enter(const Function& function, Activation* caller, const Call* call,
                   const BasicBlock* returns_to);
  void fill_specials(const Function& function, std::byte* frame) const;

  std::vector<std::unique_ptr<std::byte[]>> frames_;
  std::byte* top_ = nullptr;  // the entry's frame, kept from block to block
  const Function* top_function_ = nullptr;
  std::map<std::pair<const Activation*, const Call*>, std::byte*> callees_;
  std::size_t frame_bytes_ = 0;
  std::uint32_t unchanged_ = 0;  // steps since lanes met or parted
  std::uint32_t turn_ = 0;
};

}  // namespace krl::machine
