// Counters of a launch, from what each lane did.
//
// While a launch runs, every lane keeps a log of its basic blocks, accesses and warp operations.
// Afterwards the lanes of a warp are replayed together: of the lanes' next entries those with the
// lowest address in the text go first, as one instruction ("min-pc", the reconvergence of a SIMT
// machine whose code is laid out in program order). One thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/backends/cpu/runner_protocol.hpp"

namespace krl::emulator {

enum class Event : std::uint8_t {
  kBasicBlock,
  kGlobalLoad,
  kGlobalStore,
  kSharedLoad,
  kSharedStore,
  kGlobalAtomic,
  kSharedAtomic,
  kBarrier,
  kShuffle,
  kVote,
  kWarpBarrier,
  kPrintf,
};

struct LogEntry {
  std::uint64_t address;  // offset in global or shared memory; for a basic block its instructions
  std::uint32_t pc;       // offset in the module
  std::uint8_t size;
  Event event;
};

using LaneLog = std::vector<LogEntry>;

class WarpProfile {
 public:
  // `global_bytes`: how far the offsets of global accesses go.
  explicit WarpProfile(std::uint64_t global_bytes);

  void begin_launch();
  void begin_block() { ++block_stamp_; }

  // Replays the logs of one warp's lanes (at most 32, lane 0 first) and empties them.
  void merge(std::span<LaneLog> lanes);

  const Counters& counters() const { return counters_; }

 private:
  static constexpr int kLanes = 32;

  // The lanes that execute one instruction together.
  struct Group {
    const LogEntry* entries[kLanes];
    std::uint8_t lanes[kLanes];
    int size = 0;
  };
  enum class Level : std::uint8_t { kNone, kL1, kL2, kDram };

  void execute(const Group& group);
  void basic_block(const Group& group);
  void global_load(const Group& group);
  void global_store(const Group& group);
  void shared_access(const Group& group);
  void atomic(const Group& group, bool global);
  int distinct_sectors(const Group& group, std::uint64_t* sectors) const;
  std::uint32_t wavefronts(const Group& group) const;
  void end_batch();

  Counters counters_;
  std::vector<std::uint32_t> loaded_;  // per sector: block_stamp_ of the last block that loaded it
  std::vector<std::uint32_t> stored_;  // per sector: block_stamp_ of the last block that stored it
  std::unordered_map<std::uint64_t, std::uint64_t> atomics_;  // per address: operations
  std::uint32_t block_stamp_ = 0;
  std::uint32_t launch_stamp_ = 0;  // stamps of earlier launches are at most this
  CriticalPath path_;               // of the warp being merged
  std::uint64_t longest_ = 0;       // weight of counters_.critical
  Level batch_ = Level::kNone;      // slowest load since the last basic block began
  bool shared_batch_ = false;
  bool fenced_ = false;         // a store, atomic operation or barrier since the last global load
  bool ordered_batch_ = false;  // … when the batch began
};

}  // namespace krl::emulator
