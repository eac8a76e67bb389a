// Tracks how threads without a barrier between them order their accesses: a fence (or a release),
// then a strong write to a word; a strong read that finds the written value, then a fence (or an
// acquire).
//
// A warp's fence gathers the accesses that have happened before it: those of the fencing lanes;
// those of lanes that have met them since; those of the block before its last barrier; and all that
// the warp has learned. A strong write of such a lane publishes these with its word, and an atomic
// operation adds to what the word had before (a release sequence). A strong read takes it up, and
// the next fence makes it known. A barrier of the block makes all of its warps know what one has
// taken up or learned, and publish what one has gathered.
//
// Used by one thread.
#pragma once

#include <array>
#include <cstdint>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/knowledge.hpp"

namespace krl::machine {

enum class Scope : std::uint8_t { kBlock, kDevice };

// A fence, or an access that acts as one, in a byte of an instruction; 0: none.
struct Fence {
  static constexpr std::uint8_t kAcquire = 1, kRelease = 2, kOfBlock = 4;
  std::uint8_t bits = 0;

  bool acquires() const { return (bits & kAcquire) != 0; }
  bool releases() const { return (bits & kRelease) != 0; }
  // Its halves: before an access, and after one.
  Fence releasing() const { return {static_cast<std::uint8_t>(bits & ~kAcquire)}; }
  Fence acquiring() const { return {static_cast<std::uint8_t>(bits & ~kRelease)}; }
  Scope scope() const { return (bits & kOfBlock) != 0 ? Scope::kBlock : Scope::kDevice; }
};
inline constexpr Fence kFenceOfBlock{Fence::kAcquire | Fence::kRelease | Fence::kOfBlock};
inline constexpr Fence kFenceOfDevice{Fence::kAcquire | Fence::kRelease};

// The accesses that fences have gathered for all threads, and for those of the same block, which
// are more.
struct Gathered {
  Knowledge of_device, of_block;

  bool empty() const { return of_block.empty(); }
  void join(const Gathered& other) {
    const bool alike = of_device == of_block && other.of_device == other.of_block;
    of_device.join(other.of_device);
    if (alike) {
      of_block = of_device;
    } else {
      of_block.join(other.of_block);
    }
  }
};

// Synchronises the threads of one block, which is named by its first serial.
class Synchronisation {
 public:
  void begin_block(std::uint32_t block);
  void barrier();
  void lanes_met(std::uint32_t warp, Mask lanes) {
    Warp& met = warps_[warp];
    if ((met.fenced & lanes) != 0) met.fenced |= lanes;
  }

  // Lanes of a warp fence. `own`: their accesses, and those of the block before its last barrier.
  void acquire(std::uint32_t warp, Scope scope);
  void release(std::uint32_t warp, Mask lanes, Scope scope, const Knowledge& own);

  // A strong access to a word, which is the same number for all blocks unless it is shared memory.
  // `words`: of the launch; null: shared memory.
  void read(const SyncWords* words, std::uint64_t word, std::uint32_t warp, Scope scope);
  void write(SyncWords* words, std::uint64_t word, std::uint32_t warp, std::uint32_t lane,
             Scope scope, bool atomic);

  void take_up(const Knowledge& published, std::uint32_t warp, Scope scope) {
    if (scope == Scope::kDevice && !published.empty()) active(warp).taken_up.join(published);
  }
  // Handles a word of shared memory in the same way, and returns the knowledge published with it.
  void take_up_shared(const Knowledge& published, std::uint32_t warp) {
    if (!published.empty()) active(warp).taken_up_of_block.join(published);
  }
  Knowledge published_shared(std::uint64_t word) const;

  // The barrier of a cluster. Adds what a warp has learned since the last barrier of the block, even
  // if that is certain only after a fence, to knowledge that covers `known`; returns what a write by
  // the lanes would publish to other blocks.
  void add_learned(std::uint32_t warp, const Knowledge& known, Knowledge* to) const;
  Knowledge fenced(std::uint32_t warp, Mask lanes) const;
  // Returns what the last barrier has made known to all warps.
  const Knowledge& known() const { return known_; }
  // All warps, or one, learn that these accesses have happened before, which cover `earlier`.
  void learn(const Knowledge& what, const Knowledge& earlier) { known_.join(what, earlier); }
  void learn(std::uint32_t warp, const Knowledge& what, const Knowledge& earlier) {
    if (!what.empty()) active(warp).known.join(what, earlier);
  }
  // Returns what is known to a warp.
  Knowledge learned(std::uint32_t warp) const {
    Knowledge all = known_;
    if (is_active(warp)) all.join(warps_[warp].known);
    return all;
  }
  // True if an access by a warp of `block` is ordered before the present accesses of a warp of this
  // block.
  bool knows(std::uint32_t warp, std::uint32_t block, Record access) const {
    return known_.covers(block, access) ||
           (is_active(warp) && warps_[warp].known.covers(block, access));
  }
  // True if a warp has fenced, or taken up what another published, since the last barrier.
  bool is_active(std::uint32_t warp) const { return (active_ >> warp & 1) != 0; }

 private:
  // Since the last barrier.
  struct Warp {
    Knowledge known;
    Knowledge taken_up, taken_up_of_block;
    Gathered gathered;
    Mask fenced = 0;  // lanes that publish the gathered knowledge
  };
  Warp& active(std::uint32_t warp) {
    active_ |= 1u << warp;
    return warps_[warp];
  }

  std::uint32_t block_ = 0;
  std::uint32_t active_ = 0;  // warps with anything in their state
  Knowledge known_;           // known to all warps as of the last barrier
  Gathered gathered_;
  SyncWords words_;  // published only to threads of this block
  std::array<Warp, kWarpsPerBlock> warps_;
};

}  // namespace krl::machine
