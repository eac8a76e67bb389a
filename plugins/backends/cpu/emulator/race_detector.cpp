#include "plugins/backends/cpu/emulator/race_detector.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace krl::emulator {

ShadowMemory::~ShadowMemory() {
  if (cells_ != nullptr) munmap(cells_, (bytes_ / 4 + bytes_) * sizeof(ShadowCell));
}

bool ShadowMemory::reserve(std::size_t bytes) {
  bytes = (bytes + 15) & ~std::size_t{15};
  if (bytes <= bytes_) return true;
  if (cells_ != nullptr) munmap(cells_, (bytes_ / 4 + bytes_) * sizeof(ShadowCell));
  cells_ = nullptr;
  bytes_ = 0;
  void* memory = mmap(nullptr, (bytes / 4 + bytes) * sizeof(ShadowCell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  cells_ = static_cast<ShadowCell*>(memory);  // zero pages are blank cells
  bytes_ = bytes;
  return true;
}

bool RaceDetector::reserve(std::size_t global_bytes, std::size_t shared_bytes) {
  return global_.reserve(global_bytes) && shared_.reserve(shared_bytes);
}

void RaceDetector::next_epoch() {
  ++epoch_;
  std::fill(warp_epochs_.begin(), warp_epochs_.end(), std::uint16_t{0});
}

void RaceDetector::begin_launch() {
  next_epoch();
  launch_first_ = epoch_;
  blocks_.clear();
}

void RaceDetector::begin_block() {
  next_epoch();
  block_first_ = epoch_;
  blocks_.push_back({epoch_, false, false});
}

bool RaceDetector::blocks_synchronise(std::uint32_t epoch, std::uint16_t who) const {
  const auto next = std::upper_bound(
      blocks_.begin(), blocks_.end(), epoch,
      [](std::uint32_t value, const BlockRecord& block) { return value < block.first_epoch; });
  const BlockRecord& other = *(next - 1);
  const BlockRecord& own = blocks_.back();
  return (own.fenced && other.fenced) || ((who & kStrong) != 0 && (own.fenced || own.atomic));
}

// Whether nothing orders an earlier access before the present one. `conflict_` then names the
// earlier thread.
bool RaceDetector::unordered(std::uint32_t epoch, std::uint16_t who, std::uint16_t warp_epoch) {
  if (epoch < launch_first_) return false;
  const std::uint32_t other = who & kThread;
  if (epoch < block_first_) {
    conflict_ = {other, true, false};
    return !blocks_synchronise(epoch, who);
  }
  if (epoch != epoch_) return false;
  if (other == thread_ && (who & (kMany | kManyWarps)) == 0) return false;
  const bool same_warp = other / 32 == thread_ / 32 && (who & kManyWarps) == 0;
  if (same_warp && warp_epoch != warp_epoch_) return false;
  if (fenced_[other] == epoch_ && fenced_[thread_] == epoch_) return false;
  conflict_ = {other, false, false};
  return true;
}

RaceDetector::Verdict RaceDetector::judge_read(const ShadowCell& cell, const Access& access) {
  if (access.shared && cell.write_epoch < block_first_) return Verdict::kUninitialised;
  if ((cell.writer & kManyAtomic) != 0 && cell.write_epoch == epoch_ && access.shared &&
      !access.strong && fenced_[thread_] != epoch_) {
    conflict_ = {cell.writer & std::uint32_t{kThread}, false, true};
    return Verdict::kRace;
  }
  const bool strong_writer = (cell.writer & kStrong) != 0;
  if (strong_writer && (access.strong || !access.shared)) return Verdict::kFine;
  // Several threads stored the same value, and this may be one of them.
  if ((cell.writer & kMany) != 0 && cell.write_epoch == epoch_) return Verdict::kFine;
  if (!unordered(cell.write_epoch, cell.writer & static_cast<std::uint16_t>(~kMany),
                 cell.write_warp_epoch)) {
    return Verdict::kFine;
  }
  conflict_.other_wrote = true;
  return Verdict::kRace;
}

RaceDetector::Verdict RaceDetector::judge_write(const ShadowCell& cell, const Access& access) {
  // Shared memory of an earlier block is other memory.
  const bool written_here = !access.shared || cell.write_epoch >= block_first_;
  const bool read_here = !access.shared || cell.read_epoch >= block_first_;
  const bool both_strong_writes = access.strong && (cell.writer & kStrong) != 0;
  if (written_here && !both_strong_writes &&
      unordered(cell.write_epoch, cell.writer, cell.write_warp_epoch)) {
    conflict_.other_wrote = true;
    return Verdict::kIfChanged;
  }
  const bool reader_may_race = !(access.strong && ((cell.reader & kStrong) != 0 || !access.shared));
  if (read_here && reader_may_race &&
      unordered(cell.read_epoch, cell.reader, cell.read_warp_epoch)) {
    return Verdict::kIfChanged;
  }
  return Verdict::kFine;
}

// Keeps the thread that read first and flags that others have, too; what a warp operation has
// ordered is forgotten.
void RaceDetector::remember_read(ShadowCell& cell, const Access& access) {
  auto flags = static_cast<std::uint16_t>(access.strong ? kStrong : 0);
  std::uint32_t reader = thread_;
  if (cell.read_epoch == epoch_) {
    const std::uint32_t other = cell.reader & kThread;
    const bool same_warp = other / 32 == thread_ / 32 && (cell.reader & kManyWarps) == 0;
    if (!same_warp) {
      reader = other;
      flags &= cell.reader;
      flags |= kManyWarps;
    } else if (cell.read_warp_epoch == warp_epoch_) {
      reader = other;
      flags &= cell.reader;
      flags |= (cell.reader & kMany) | (other != thread_ ? kMany : 0);
    }
  }
  cell.read_epoch = epoch_;
  cell.reader = static_cast<std::uint16_t>(reader | flags);
  cell.read_warp_epoch = warp_epoch_;
}

RaceDetector::Verdict RaceDetector::split_word(ShadowMemory& shadow, const Access& access,
                                               std::uint64_t offset) {
  Verdict worst = Verdict::kFine;
  for (std::uint64_t i = offset; i < offset + 4; ++i) {
    ShadowCell& cell = *shadow.byte(i);
    worst = std::max(worst, access.write ? write(cell, access) : read(cell, access));
  }
  return worst;
}

RaceDetector::Verdict RaceDetector::bytes(ShadowMemory& shadow, const Access& access) {
  ShadowCell& word = *shadow.word(access.offset);
  if ((word.reader & kSplit) == 0) {
    const std::uint64_t first = access.offset & ~std::uint64_t{3};
    for (std::uint64_t i = first; i < first + 4; ++i) *shadow.byte(i) = word;
    word.reader |= kSplit;
  }
  Verdict worst = Verdict::kFine;
  for (std::uint64_t i = access.offset; i < access.offset + access.size; ++i) {
    ShadowCell& cell = *shadow.byte(i);
    worst = std::max(worst, access.write ? write(cell, access) : read(cell, access));
  }
  return worst;
}

}  // namespace krl::emulator
