#include "plugins/backends/cpu/emulator/warp_profile.hpp"

#include <algorithm>
#include <array>

namespace krl::emulator {
namespace {

constexpr unsigned kSectorShift = 5;  // sectors of 32 bytes

// Which warp counts as the slowest: rough latencies in cycles. The model of a GPU weighs the
// winner's path by its own.
std::uint64_t weight(const CriticalPath& p) {
  return p.instructions * 4 + p.dram_requests * 400 + p.l2_requests * 200 + p.l1_requests * 35 +
         p.shared_requests * 25 + p.warp_operations * 25 + p.barriers * 30 + p.atomics * 300;
}

}  // namespace

WarpProfile::WarpProfile(std::uint64_t global_bytes)
    : loaded_((global_bytes >> kSectorShift) + 1), stored_((global_bytes >> kSectorShift) + 1) {}

void WarpProfile::begin_launch() {
  counters_ = {};
  atomics_.clear();
  longest_ = 0;
  launch_stamp_ = block_stamp_;
}

void WarpProfile::merge(std::span<LaneLog> lanes) {
  std::array<const LogEntry*, kLanes> next{}, end{};
  std::array<std::uint8_t, kLanes> alive{};
  int count = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    next[i] = lanes[i].data();
    end[i] = lanes[i].data() + lanes[i].size();
    if (next[i] != end[i]) alive[static_cast<std::size_t>(count++)] = static_cast<std::uint8_t>(i);
  }
  path_ = {};
  fenced_ = false;
  Group group;
  while (count > 0) {
    std::uint32_t lowest = next[alive[0]]->pc;
    for (int k = 1; k < count; ++k) lowest = std::min(lowest, next[alive[k]]->pc);
    group.size = 0;
    int kept = 0;
    for (int k = 0; k < count; ++k) {
      const std::uint8_t lane = alive[k];
      if (next[lane]->pc == lowest) {
        group.entries[group.size] = next[lane]++;
        group.lanes[group.size++] = lane;
      }
      if (next[lane] != end[lane]) alive[kept++] = lane;
    }
    count = kept;
    execute(group);
  }
  end_batch();
  ++counters_.warps;
  counters_.threads += lanes.size();
  if (const auto cost = weight(path_); cost >= longest_) {
    longest_ = cost;
    counters_.critical = path_;
  }
  for (auto& log : lanes) log.clear();
}

void WarpProfile::execute(const Group& group) {
  switch (group.entries[0]->event) {
    case Event::kBasicBlock:
      return basic_block(group);
    case Event::kGlobalLoad:
      return global_load(group);
    case Event::kGlobalStore:
      return global_store(group);
    case Event::kSharedLoad:
    case Event::kSharedStore:
      return shared_access(group);
    case Event::kGlobalAtomic:
      return atomic(group, true);
    case Event::kSharedAtomic:
      return atomic(group, false);
    case Event::kBarrier:
      end_batch();
      fenced_ = true;
      ++counters_.barriers;
      ++path_.barriers;
      return;
    case Event::kShuffle:
      end_batch();
      ++counters_.shuffles;
      ++path_.warp_operations;
      return;
    case Event::kVote:
      end_batch();
      ++counters_.votes;
      ++path_.warp_operations;
      return;
    case Event::kWarpBarrier:
      ++counters_.warp_barriers;
      return;
    case Event::kPrintf:
      counters_.printfs += static_cast<std::uint64_t>(group.size);
      return;
  }
}

void WarpProfile::basic_block(const Group& group) {
  end_batch();
  const std::uint64_t instructions = group.entries[0]->address;
  counters_.instructions += instructions;
  counters_.thread_instructions += instructions * static_cast<std::uint64_t>(group.size);
  path_.instructions += instructions;
  path_.clocks += 2 * instructions;  // its machine code is not a GPU's: neither counts nor chains are
  counters_.classes[static_cast<std::size_t>(InstructionClass::kInteger)] += instructions;
}

// The loads of one basic block are under way together: the path waits once, for the slowest.
void WarpProfile::end_batch() {
  const auto wait = [this](std::uint64_t* requests, std::uint64_t* ordered) {
    ++*requests;
    if (ordered_batch_) ++*ordered;
  };
  if (batch_ == Level::kDram) wait(&path_.dram_requests, &path_.ordered_dram_requests);
  if (batch_ == Level::kL2) wait(&path_.l2_requests, &path_.ordered_l2_requests);
  if (batch_ == Level::kL1) wait(&path_.l1_requests, &path_.ordered_l1_requests);
  if (shared_batch_) ++path_.shared_requests;
  batch_ = Level::kNone;
  shared_batch_ = false;
}

// An access is aligned to its size of at most 16 bytes, so it lies in one sector.
int WarpProfile::distinct_sectors(const Group& group, std::uint64_t* sectors) const {
  bool ascending = true;
  int count = 0;
  for (int i = 0; i < group.size; ++i) {
    const std::uint64_t sector = group.entries[i]->address >> kSectorShift;
    if (count > 0 && sector == sectors[count - 1]) continue;
    if (count > 0 && sector < sectors[count - 1]) ascending = false;
    sectors[count++] = sector;
  }
  if (ascending) return count;
  std::sort(sectors, sectors + count);
  return static_cast<int>(std::unique(sectors, sectors + count) - sectors);
}

void WarpProfile::global_load(const Group& group) {
  std::uint64_t sectors[kLanes];
  const int count = distinct_sectors(group, sectors);
  if (batch_ == Level::kNone) ordered_batch_ = fenced_;
  fenced_ = false;
  ++counters_.global_load_requests;
  counters_.global_load_sectors += static_cast<std::uint64_t>(count);
  counters_.vector8_requests += group.entries[0]->size == 8;
  counters_.vector16_requests += group.entries[0]->size == 16;
  for (int i = 0; i < count; ++i) {
    std::uint32_t& loaded = loaded_[sectors[i]];
    Level level = Level::kL2;
    if (loaded == block_stamp_) {
      level = Level::kL1;
      ++counters_.l1_sectors;
    } else if (loaded > launch_stamp_ || stored_[sectors[i]] > launch_stamp_) {
      ++counters_.l2_sectors;
    } else {
      level = Level::kDram;
      ++counters_.dram_load_sectors;
    }
    loaded = block_stamp_;
    batch_ = std::max(batch_, level);
  }
}

void WarpProfile::global_store(const Group& group) {
  std::uint64_t sectors[kLanes];
  const int count = distinct_sectors(group, sectors);
  fenced_ = true;
  ++counters_.global_store_requests;
  counters_.global_store_sectors += static_cast<std::uint64_t>(count);
  counters_.vector8_requests += group.entries[0]->size == 8;
  counters_.vector16_requests += group.entries[0]->size == 16;
  for (int i = 0; i < count; ++i) {
    std::uint32_t& stored = stored_[sectors[i]];
    if (stored <= launch_stamp_) ++counters_.dram_store_sectors;
    stored = block_stamp_;
  }
}

// A wavefront serves each of the 32 banks of 4 bytes once, and all lanes that ask for the same
// word; accesses of 8 and 16 bytes are served half and quarter warps at a time.
std::uint32_t WarpProfile::wavefronts(const Group& group) const {
  const unsigned words_each = std::max(1, group.entries[0]->size / 4);
  const unsigned lanes_together = kLanes / words_each;
  std::uint32_t total = 0;
  int i = 0;
  for (unsigned part = 0; part < words_each; ++part) {
    std::uint64_t words[kLanes];
    int count = 0;
    for (; i < group.size && group.lanes[i] < (part + 1) * lanes_together; ++i) {
      const std::uint64_t word = group.entries[i]->address >> 2;
      if (count == 0 || word != words[count - 1]) words[count++] = word;
    }
    if (count == 0) continue;
    std::sort(words, words + count);
    count = static_cast<int>(std::unique(words, words + count) - words);
    std::array<std::uint32_t, 32> passes{};
    std::uint32_t most = 0;
    for (int k = 0; k < count; ++k) {
      for (unsigned w = 0; w < words_each; ++w)
        most = std::max(most, ++passes[(words[k] + w) & 31]);
    }
    total += most;
  }
  return total;
}

void WarpProfile::shared_access(const Group& group) {
  const bool load = group.entries[0]->event == Event::kSharedLoad;
  ++(load ? counters_.shared_load_requests : counters_.shared_store_requests);
  const std::uint32_t passes = wavefronts(group);
  const unsigned words_each = std::max(1, group.entries[0]->size / 4);
  // Parts of the warp that take part at all: what the access would need without conflicts.
  const unsigned lanes_together = kLanes / words_each;
  std::uint32_t least = 0;
  for (int i = 0, part = -1; i < group.size; ++i) {
    const int own = static_cast<int>(group.lanes[i] / lanes_together);
    if (own != part) ++least;
    part = own;
  }
  counters_.shared_wavefronts += passes;
  counters_.bank_conflicts += passes - least;
  shared_batch_ |= load;
}

// Lanes with the same address take turns.
void WarpProfile::atomic(const Group& group, bool global) {
  std::uint64_t addresses[kLanes];
  for (int i = 0; i < group.size; ++i) addresses[i] = group.entries[i]->address;
  std::sort(addresses, addresses + group.size);
  std::uint64_t most = 0, run = 0;
  for (int i = 0; i < group.size; ++i) {
    run = i > 0 && addresses[i] == addresses[i - 1] ? run + 1 : 1;
    most = std::max(most, run);
    if (global) {
      counters_.hottest_atomic = std::max(counters_.hottest_atomic, ++atomics_[addresses[i]]);
    }
  }
  ++(global ? counters_.global_atomics : counters_.shared_atomics);
  counters_.atomic_passes += most;
  fenced_ |= global;
  ++path_.atomics;
}

}  // namespace krl::emulator
