// Tracks which accesses of threads are ordered, and whether two accesses to the same memory race.
//
// By the CUDA memory model, these order two accesses: a barrier of the block between them; a
// warp-wide operation between them, for lanes of one warp; fences and strong accesses to a word,
// see synchronisation.hpp; the end of a launch. Two strong accesses (volatile, relaxed, atomic) do
// not race, nor does a plain load with an atomic on global memory; nor do threads that store the
// same value. In doubt nothing is reported: lanes that have met any others count as having met each
// other, and only the last of the readers in different blocks is kept.
//
// Used by one thread.
#pragma once

#include <array>
#include <cstdint>

#include "plugins/backends/cpu/machine/block_shape.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"
#include "plugins/backends/cpu/machine/memory/identity.hpp"
#include "plugins/backends/cpu/machine/memory/synchronisation.hpp"

namespace krl::machine {

// The other party of an access that races.
struct Conflict {
  std::uint32_t thread = 0;  // index in its block
  bool other_block = false;
  bool other_wrote = false;
};

enum class Verdict : std::uint8_t {
  kFine,
  kIfChanged,  // a store: a race unless it leaves the memory as it is
  kRace,
  kUninitialised,
};

// An access that is about to happen.
struct Access {
  Who who = 0;  // includes the lane, and kStrong
  bool write = false;
  bool shared = false;
  bool atomic = false;
  bool reduces = false;          // see MemoryAccess
  bool changes = false;          // see Request
  Scope scope = Scope::kDevice;  // scope of a strong access
  bool read_only = false;        // through the cache for what nobody writes in the launch

  bool strong() const { return (who & machine::kStrong) != 0; }
};

class AccessOrder {
 public:
  explicit AccessOrder(GlobalShadow& shadow) : shadow_(shadow) {}

  // A new block; false: stamps restart, and shared memory's shadow has to be cleared.
  // `cluster_words`: what is published with words of shared memory of its cluster; null: it is in
  // none.
  bool begin_block(SyncWords* cluster_words);
  void barrier();
  // `live`: lanes of the warp that have not ended.
  void lanes_met(std::uint32_t warp, Mask lanes, Mask live) {
    present_[warp] = 0;
    met_[warp] = first_of_stamp(next_stamp_);
    have_met_[warp] |= lanes;
    if ((live & ~have_met_[warp]) == 0) {
      all_met_[warp] = met_[warp];
      have_met_[warp] = 0;
    }
    synchronisation_.lanes_met(warp, lanes);
  }
  void fence(std::uint32_t warp, Mask lanes, Fence fence);
  // A strong access to a word, after it has been judged.
  void synchronise(std::uint64_t word, const Access& access);

  // Returns the stamp of a warp's present interval; lane and flags are 0. ran_out() is true once
  // the stamps have been used up: all accesses so far count as ordered then, and `reset_stamps` has
  // to be called before the next access.
  Who present(std::uint32_t warp) {
    if (present_[warp] == 0) [[unlikely]]
      take_stamp(warp);
    return present_[warp];
  }
  bool ran_out() const { return next_stamp_ + kWarpsPerBlock >= kStamps - 1; }
  // Begins with the lowest stamps again. Records of this block in the shadow of shared memory have
  // to become kOrdered.
  void reset_stamps();
  static constexpr Who kOrdered = first_of_stamp(1);

  std::uint32_t serial() const { return serial_; }
  // Bounds of Who: accesses of this block are at least `begin`; those before the last barrier are
  // below `barrier`.
  Who block_begin() const { return begin_; }
  Who last_barrier() const { return barrier_; }
  // Accesses of the warp with an earlier stamp are ordered before its lanes' present ones.
  Who last_meeting(std::uint32_t warp) const { return all_met_[warp]; }

  // … with an earlier stamp than this may be ordered: before the last meeting of whichever lanes.
  Who last_meeting_of_any(std::uint32_t warp) const { return met_[warp]; }
  // Later accesses of the warp have other stamps than those so far. Returns a stamp between the two.
  Who begin_interval(std::uint32_t warp) {
    present_[warp] = 0;
    return first_of_stamp(next_stamp_);
  }
  // Returns what a warp knows of the accesses of others; and if that covers one of this block.
  Knowledge learned(std::uint32_t warp) const { return synchronisation_.learned(warp); }
  bool covers(const Knowledge& known, Who access) const {
    return known.covers(shadow_.block(serial_).first_serial,
                        Record{serial_} << kSerialShift | access);
  }

  // True if an earlier access is ordered before a warp's present one.
  bool is_ordered(Record earlier, std::uint32_t warp) const {
    return !of_this_launch(earlier) || of_this_block(earlier) || knows(warp, earlier);
  }
  // The same of an access to shared memory by the same block.
  bool is_ordered_in_block(Who earlier, std::uint32_t warp) const {
    return earlier < barrier_ || warp_of(earlier) == warp ||
           knows(warp, Record{serial_} << kSerialShift | earlier);
  }
  // True if that access's block has fenced after it, and then this block: all fences have one total
  // order.
  bool fenced_since(Record earlier, std::uint64_t time) const {
    const std::uint64_t other = shadow_.block(serial_of(earlier)).fenced;
    return other > time && shadow_.block(serial_).fenced > other;
  }
  // Records a strong read of the value that a word had before its last write.
  void take_up(const Knowledge& published, const Access& access) {
    synchronisation_.take_up(published, warp_of(access.who), access.scope);
  }
  void take_up_shared(const Knowledge& published, std::uint32_t warp) {
    synchronisation_.take_up_shared(published, warp);
  }
  Knowledge published_shared(std::uint64_t word) const {
    return synchronisation_.published_shared(word);
  }
  // ---- for the barrier of a cluster: see Synchronisation ----
  // Adds what happened before a warp's lanes arrive to knowledge that covers `known`.
  void release_to_cluster(std::uint32_t warp, Mask lanes, const Knowledge& known, Knowledge* to);
  // Returns what happened before the last barrier of the block, and what all of it knows.
  Knowledge before_barrier() const;
  const Knowledge& known() const { return synchronisation_.known(); }
  Knowledge fenced(std::uint32_t warp, Mask lanes) const {
    return synchronisation_.fenced(warp, lanes);
  }
  void learn(const Knowledge& what, const Knowledge& earlier) {
    synchronisation_.learn(what, earlier);
  }
  void learn(std::uint32_t warp, const Knowledge& what, const Knowledge& earlier) {
    synchronisation_.learn(warp, what, earlier);
  }
  // True if an access is ordered before the present accesses of all of the block's warps.
  bool is_known_to_all(Record record) const;
  // The record of an access of this block to its shared memory, for other blocks; 0: an earlier
  // block's.
  Record record_of(Who who) const;
  // Returns what any warp of the block knows; and if that covers an access.
  Knowledge known_to_any() const;
  bool covers(const Knowledge& known, Record record) const;

  // Judges an access after those recorded in a cell.
  Verdict judge(const Cell& cell, const Access& access, Conflict* conflict) const;
  // True if only the schedule decides that the access comes after those of the cell, and the result
  // may depend on it. See cpu::Encounter.
  bool encounters(const Cell& cell, const Access& access) const;
  // Adds the access to the cell. `verdict`: the result of judging it, if it continued.
  void remember(Cell* cell, const Access& access, Verdict verdict, std::uint64_t pattern = 0);

  bool of_this_launch(Record record) const { return record >= shadow_.launch_floor(); }
  bool of_this_block(Record record) const { return shadow_.same_block(serial_of(record), serial_); }

 private:
  void take_stamp(std::uint32_t warp);
  void add_own(std::uint32_t warp, Mask lanes, Knowledge* to) const;
  bool unordered(Record earlier, Who now, bool of_writer, Conflict* conflict) const;
  bool ordered_by_meeting(Who earlier, Who now) const;
  bool knows(std::uint32_t warp, Record earlier) const {
    const BlockRecord& block = shadow_.block(serial_of(earlier));
    return block.forgotten || synchronisation_.knows(warp, block.first_serial, earlier);
  }
  Verdict judge_read(const Cell& cell, const Access& access, Conflict* conflict) const;
  Verdict judge_write(const Cell& cell, const Access& access, Conflict* conflict) const;
  void remember_read(Cell* cell, const Access& access, std::uint64_t pattern) const;

  GlobalShadow& shadow_;
  std::uint32_t serial_ = 0;
  SyncWords* cluster_words_ = nullptr;
  std::uint32_t next_stamp_ = 2;
  Who begin_ = 0, barrier_ = 0;
  std::array<Who, kWarpsPerBlock> present_{};
  std::array<Who, kWarpsPerBlock> met_{};        // the last warp-wide operation, of whichever lanes
  std::array<Who, kWarpsPerBlock> all_met_{};    // the last by which all lanes had met
  std::array<Mask, kWarpsPerBlock> have_met_{};  // since then
  Synchronisation synchronisation_;
};

}  // namespace krl::machine
