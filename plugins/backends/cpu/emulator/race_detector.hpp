// Finds accesses to the same memory by two threads of a launch that nothing orders, and reads of
// shared memory that no thread of the block wrote.
//
// What orders two accesses, by the CUDA memory model: a barrier of the block between them; a warp
// operation between them, for lanes of one warp; the end of a launch. Between blocks: a fence in
// both blocks, or an atomic operation of the earlier access and a fence or atomic of the later
// block. Within a block also a fence of both threads in the interval. Two strong accesses
// (volatile, atomic) never race; nor does a plain load with an atomic on global memory; nor threads
// that store the same value (the caller compares the memory afterwards, see `Verdict::kIfChanged`).
// The rules lean to silence: a warp operation of some lanes counts for all of them, and of several
// readers in different blocks only the last is kept (another order of the blocks shows the others).
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace krl::emulator {

// Shadow cells for a range of memory: one per 4-byte word, and one per byte where narrower accesses
// happen.
struct ShadowCell {
  std::uint32_t write_epoch = 0;
  std::uint32_t read_epoch = 0;
  std::uint16_t writer = 0;  // thread and flags
  std::uint16_t write_warp_epoch = 0;
  std::uint16_t reader = 0;  // thread and flags
  std::uint16_t read_warp_epoch = 0;
};

class ShadowMemory {
 public:
  ShadowMemory() = default;
  ~ShadowMemory();
  ShadowMemory(const ShadowMemory&) = delete;
  ShadowMemory& operator=(const ShadowMemory&) = delete;

  // Room for `bytes` bytes, all cells blank; pages are taken from the system as they are touched.
  // False: no memory.
  bool reserve(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }

  ShadowCell* word(std::size_t offset) { return cells_ + offset / 4; }
  ShadowCell* byte(std::size_t offset) { return cells_ + bytes_ / 4 + offset; }

 private:
  ShadowCell* cells_ = nullptr;
  std::size_t bytes_ = 0;
};

class RaceDetector {
 public:
  static constexpr std::uint32_t kMaxThreads = 1024;

  enum class Verdict { kFine, kRace, kIfChanged, kUninitialised };

  struct Access {
    std::uint64_t offset;  // in its space
    std::uint32_t size;    // 1, 2, 4, 8 or 16; aligned
    bool write;
    bool strong;  // volatile or atomic
    bool shared;  // which space
  };

  // The other party of the last access that was not fine.
  struct Conflict {
    std::uint32_t thread = 0;  // linear in its block
    bool other_block = false;
    bool other_wrote = false;
  };

  bool reserve(std::size_t global_bytes, std::size_t shared_bytes);

  void begin_launch();
  void begin_block();
  // Every thread of the block has passed a barrier.
  void barrier() { next_epoch(); }
  // The lanes of a warp have met.
  void warp_met(std::uint32_t warp) {
    if (++warp_epochs_[warp] == 0) next_epoch();
  }
  void fence(std::uint32_t thread) {
    fenced_[thread] = epoch_;
    blocks_.back().fenced = true;
  }

  // `thread` (linear in its block) is about to access memory.
  [[gnu::always_inline]] Verdict access(std::uint32_t thread, const Access& access) {
    thread_ = thread;
    warp_epoch_ = warp_epochs_[thread / 32];
    ShadowMemory& shadow = access.shared ? shared_ : global_;
    if (access.size >= 4) [[likely]] {
      Verdict worst = Verdict::kFine;
      for (std::uint32_t i = 0; i < access.size; i += 4) {
        const Verdict verdict = word(shadow, access, access.offset + i);
        if (verdict > worst) worst = verdict;
      }
      return worst;
    }
    return bytes(shadow, access);
  }
  const Conflict& conflict() const { return conflict_; }

 private:
  static constexpr std::uint16_t kThread = 0x03ff;
  static constexpr std::uint16_t kSplit = 0x0800;  // of `reader`: the word is kept byte by byte
  static constexpr std::uint16_t kManyAtomic = 0x2000;  // of `writer`: atomics of several warps
  static constexpr std::uint16_t kManyWarps = 0x1000;   // of `reader`
  static constexpr std::uint16_t kMany =
      0x4000;  // lanes of one warp read, or threads wrote the same value
  static constexpr std::uint16_t kStrong = 0x8000;

  struct BlockRecord {
    std::uint32_t first_epoch;
    bool fenced;
    bool atomic;
  };

  void next_epoch();
  [[gnu::always_inline]] Verdict word(ShadowMemory& shadow, const Access& access,
                                      std::uint64_t offset) {
    ShadowCell* cell = shadow.word(offset);
    if (cell->reader & kSplit) [[unlikely]]
      return split_word(shadow, access, offset);
    return access.write ? write(*cell, access) : read(*cell, access);
  }
  Verdict split_word(ShadowMemory& shadow, const Access& access, std::uint64_t offset);
  Verdict bytes(ShadowMemory& shadow, const Access& access);

  [[gnu::always_inline]] Verdict read(ShadowCell& cell, const Access& access) {
    Verdict verdict = Verdict::kFine;
    if (cell.write_epoch >= launch_first_ || access.shared) verdict = judge_read(cell, access);
    remember_read(cell, access);
    return verdict;
  }
  [[gnu::always_inline]] Verdict write(ShadowCell& cell, const Access& access) {
    Verdict verdict = Verdict::kFine;
    if (cell.write_epoch >= launch_first_ || cell.read_epoch >= launch_first_) {
      verdict = judge_write(cell, access);
    }
    std::uint16_t flags = verdict == Verdict::kIfChanged ? kMany : 0;
    if (access.strong) flags |= kStrong | atomics_of_warps(cell);
    cell.write_epoch = epoch_;
    cell.writer = static_cast<std::uint16_t>(thread_ | flags);
    cell.write_warp_epoch = warp_epoch_;
    if (access.strong) blocks_.back().atomic = true;
    return verdict;
  }

  // kManyAtomic if the cell holds an atomic of another warp, which nothing orders before the
  // present one.
  std::uint16_t atomics_of_warps(const ShadowCell& cell) const {
    if (cell.write_epoch != epoch_ || (cell.writer & kStrong) == 0) return 0;
    const bool other_warp = (cell.writer & kThread) / 32 != thread_ / 32;
    return other_warp ? kManyAtomic : cell.writer & kManyAtomic;
  }
  Verdict judge_read(const ShadowCell& cell, const Access& access);
  Verdict judge_write(const ShadowCell& cell, const Access& access);
  void remember_read(ShadowCell& cell, const Access& access);
  bool unordered(std::uint32_t epoch, std::uint16_t who, std::uint16_t warp_epoch);
  bool blocks_synchronise(std::uint32_t epoch, std::uint16_t who) const;

  ShadowMemory global_, shared_;
  std::uint32_t epoch_ = 1, launch_first_ = 1, block_first_ = 1;
  std::uint32_t thread_ = 0;
  std::uint16_t warp_epoch_ = 0;
  std::vector<std::uint16_t> warp_epochs_ = std::vector<std::uint16_t>(kMaxThreads / 32);
  std::vector<std::uint32_t> fenced_ = std::vector<std::uint32_t>(kMaxThreads);
  std::vector<BlockRecord> blocks_;  // of this launch, in the order of execution
  Conflict conflict_;
};

}  // namespace krl::emulator
