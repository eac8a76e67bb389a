#include "plugins/backends/cpu/machine/memory/shared_memory.hpp"

#include <algorithm>
#include <cstring>

namespace krl::machine {
namespace {

constexpr std::uint32_t kOverread = 16;  // words past the last that vectors may load
constexpr Who kWarpBits = 31u << kWarpShift;

// Words that a warp accesses, with their records.
struct WordRun {
  Who* writes;
  Who* reads;
  const Who* who;  // the accessing lanes, without the present interval
  std::uint32_t count;
};

// The stamps with which the accesses of a warp are compared.
struct Interval {
  Who present, begin, barrier;
  Who met;  // see AccessOrder::last_meeting
};

inline bool ordered_in_warp(Who before, Who now, Who met) {
  if (((before ^ now) & (first_of_stamp(1) - 1)) == 0) return true;  // the same lane
  return same_warp(before, now) && before < met && (before & (kManyWarps | kElsewhere)) == 0;
}

inline Who merge_reads(Who before, Who now, Who barrier) {
  const Who kept = before & ~kStrong;
  if (before < barrier) return now;
  if (!same_warp(before, now)) return kept | kManyWarps;
  if ((before & kManyWarps) != 0) return kept;
  if (!same_stamp(before, now)) return now;
  return kept | (now & kMany) | (lane_of(before) != lane_of(now) ? kMany : 0);
}

bool load_run(const WordRun& run, const Interval& interval) {
  const Who span = interval.barrier - interval.begin;
  bool ordered = true;
  for (std::uint32_t i = 0; i < run.count; ++i) {
    ordered &= run.writes[i] - interval.begin < span;
  }
  for (std::uint32_t i = 0; i < run.count && !ordered; ++i) {
    const Who now = run.who[i] | interval.present, write = run.writes[i];
    if (write - interval.begin < span) continue;
    if (write < interval.begin || !ordered_in_warp(write, now, interval.met)) return false;
  }
  for (std::uint32_t i = 0; i < run.count; ++i) {
    run.reads[i] = merge_reads(run.reads[i], run.who[i] | interval.present, interval.barrier);
  }
  return true;
}

bool store_run(const WordRun& run, const Interval& interval) {
  bool ordered = true;
  for (std::uint32_t i = 0; i < run.count; ++i) {
    ordered &= (run.writes[i] < interval.barrier) & (run.reads[i] < interval.barrier);
  }
  const auto fine = [&](Who before, Who now) {
    return before < interval.barrier || ordered_in_warp(before, now, interval.met);
  };
  for (std::uint32_t i = 0; i < run.count && !ordered; ++i) {
    const Who now = run.who[i] | interval.present;
    if (!fine(run.writes[i], now) || !fine(run.reads[i], now)) return false;
  }
  for (std::uint32_t i = 0; i < run.count; ++i) run.writes[i] = run.who[i] | interval.present;
  return true;
}

// All runs of a shape; false at the first that `access` cannot decide. `writes`, `reads`: of the
// word where the shape begins.
template <bool (*access)(const WordRun&, const Interval&)>
bool access_runs(const WordShape& shape, Who* writes, Who* reads, const Interval& interval) {
  const Who* who = shape.who;
  for (std::uint32_t i = 0; i < shape.runs; ++i) {
    const WordShape::Run& run = shape.run[i];
    if (!access({writes + run.word, reads + run.word, who, run.count}, interval)) return false;
    who += run.count;
  }
  return true;
}

}  // namespace

void SharedMemory::begin_block(std::uint32_t bytes, bool forget) {
  const std::uint32_t words = (bytes + 3) / 4 + kOverread;
  if (bytes != bytes_ || forget || marked_) {
    bytes_ = bytes;
    data_.resize(words / 2 + 8);
    writes_.assign(words, 0);
    reads_.assign(words, 0);
    if (!byte_writes_.empty()) {
      byte_writes_.assign(std::size_t{words} * 4, 0);
      byte_reads_.assign(std::size_t{words} * 4, 0);
    }
    marked_ = false;
    cluster_cells_.clear();
  }
}

void SharedMemory::reset_stamps(Who block_begin) {
  const auto order = [&](std::vector<Who>& cells, Who ordered) {
    for (Who& who : cells) {
      if (!is_marked(who)) who = who >= block_begin ? ordered : 0;
    }
  };
  order(writes_, AccessOrder::kOrdered);
  order(byte_writes_, AccessOrder::kOrdered);
  order(reads_, 0);
  order(byte_reads_, 0);
}

bool SharedMemory::load(const WordShape& shape, std::uint32_t first_word, Who present,
                        const AccessOrder& order) {
  return access_runs<load_run>(
      shape, writes_.data() + first_word, reads_.data() + first_word,
      {present, order.block_begin(), order.last_barrier(), order.last_meeting(warp_of(present))});
}

bool SharedMemory::load_chunk(std::uint32_t word, Who who, const AccessOrder& order) {
  const Who lanes[] = {who, who, who, who};
  return load_run(
      {writes_.data() + word, reads_.data() + word, lanes, 4},
      {who, order.block_begin(), order.last_barrier(), order.last_meeting(warp_of(who))});
}

bool SharedMemory::store(const WordShape& shape, std::uint32_t first_word, Who present,
                         const AccessOrder& order) {
  return access_runs<store_run>(
      shape, writes_.data() + first_word, reads_.data() + first_word,
      {present, order.block_begin(), order.last_barrier(), order.last_meeting(warp_of(present))});
}

// Gives a word cells of bytes.
void SharedMemory::split(std::uint32_t word) {
  if (byte_writes_.empty()) {
    byte_writes_.assign(writes_.size() * 4, 0);
    byte_reads_.assign(writes_.size() * 4, 0);
  }
  std::fill_n(byte_writes_.begin() + std::ptrdiff_t{word} * 4, 4, writes_[word]);
  std::fill_n(byte_reads_.begin() + std::ptrdiff_t{word} * 4, 4, reads_[word]);
  writes_[word] = kBytewise;
  marked_ = true;
}

SharedMemory::Outcome SharedMemory::access_cell(Cell* cell, const Access& access,
                                                AccessOrder& order) {
  Outcome outcome;
  outcome.verdict = order.judge(*cell, access, &outcome.conflict);
  if (outcome.verdict == Verdict::kRace || outcome.verdict == Verdict::kUninitialised) {
    return outcome;
  }
  outcome.encounter = order.encounters(*cell, access);
  order.remember(cell, access, outcome.verdict);
  return outcome;
}

// A store must be ordered after the last reads by threads of the block, and of others.
SharedMemory::Outcome SharedMemory::access_cell(ClusterCell* cell, const Access& access,
                                                AccessOrder& order, bool own_block) {
  Record& read = own_block ? cell->own_read : cell->peer_read;
  const Cell others{cell->write, own_block ? cell->peer_read : cell->own_read};
  Cell known{cell->write, read};
  Outcome outcome = access_cell(&known, access, order);
  if (access.write && outcome.verdict == Verdict::kFine) {
    outcome.verdict = order.judge(others, access, &outcome.conflict);
    if (outcome.verdict == Verdict::kIfChanged) known.write |= kMany;
  }
  if (access.write) outcome.encounter |= order.encounters(others, access);
  cell->write = known.write;
  read = known.read;
  return outcome;
}

SharedMemory::Outcome SharedMemory::access_cell(Who* write, Who* read, const Access& access,
                                                AccessOrder& order) {
  const auto record = [&](Who who) -> Record {
    if (who < order.block_begin()) return 0;  // accessed by an earlier block
    return Record{order.serial()} << kSerialShift | who;
  };
  Cell cell{record(*write), record(*read)};
  const Outcome outcome = access_cell(&cell, access, order);
  *write = who_of(cell.write);
  *read = who_of(cell.read);
  return outcome;
}

// A word, to which no copy is under way, gets cells that name threads of any block.
void SharedMemory::give_to_cluster(std::uint32_t word, const AccessOrder& own) {
  const bool bytewise = is_marked(writes_[word]);
  const Record read = is_marked(reads_[word]) ? 0 : own.record_of(reads_[word]);
  ClusterCell* const cells = cluster_cells_.add(word, writes_.size(), bytewise);
  if (bytewise) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      cells[i] = {own.record_of(byte_writes_[word * 4 + i]),
                  own.record_of(byte_reads_[word * 4 + i]), 0};
    }
  } else if (writes_[word] != ordered_by_cluster(own)) {
    cells[0] = {own.record_of(writes_[word]), read, 0};
  } else {
    cells[0].own_read = read;
  }
  writes_[word] = kOfCluster;
  marked_ = true;
}

// A thread of the block has accessed a whole word. If all that others did is ordered before, the
// word needs no closer look until one of them accesses it again.
void SharedMemory::take_back(std::uint32_t word, const ClusterCell& before, const Access& access,
                             const AccessOrder& own) {
  if (is_marked(reads_[word])) return;  // a copy from it is under way
  if (access.write) {
    writes_[word] = access.who;
    reads_[word] = 0;
  } else if (own.block_begin() < own.last_barrier() && own.is_known_to_all(before.write) &&
             own.is_known_to_all(before.own_read) && own.is_known_to_all(before.peer_read)) {
    writes_[word] = ordered_by_cluster(own);
    reads_[word] = access.who;
  }
}

// Among several words, an unwritten one may be padding that a vector loads along with the rest.
SharedMemory::Outcome SharedMemory::access(std::uint32_t offset, std::uint32_t bytes,
                                           const Access& access, AccessOrder& order,
                                           const AccessOrder& own) {
  Outcome worst;
  std::uint32_t cells = 0, unwritten = 0;
  bool encounter = false;
  const auto add = [&](const Outcome& outcome, std::uint32_t at, std::uint32_t size) {
    ++cells;
    encounter |= outcome.encounter;
    if (outcome.verdict == Verdict::kUninitialised) {
      ++unwritten;
      std::memcpy(data() + at, garbage_.take(size), size);
    } else if (outcome.verdict > worst.verdict) {
      worst = outcome;
    }
  };
  for (std::uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    if (is_marked(writes_[word]) && (writes_[word] & kStrong) != 0) {
      const Who who = writes_[word];
      return {Verdict::kRace, {warp_of(who) * kLanes + lane_of(who), &order != &own, true}, true};
    }
    if (access.write && is_marked(reads_[word])) {
      const Who who = reads_[word];
      return {Verdict::kRace, {warp_of(who) * kLanes + lane_of(who), &order != &own, false}, true};
    }
    const std::uint32_t begin = std::max(offset, word * 4);
    const std::uint32_t end = std::min(offset + bytes, word * 4 + 4);
    if (&order != &own || writes_[word] == kOfCluster) {
      if (writes_[word] != kOfCluster) give_to_cluster(word, own);
      const ClusterCells::Word cells = cluster_cells_.find(word, end - begin < 4);
      const ClusterCell before = cells.of(begin);
      Verdict last = Verdict::kFine;
      for (std::uint32_t at = begin; at < end; at += cells.bytes) {
        const Outcome outcome = access_cell(&cells.of(at), access, order, &order == &own);
        last = outcome.verdict;
        add(outcome, at, cells.bytes);
      }
      if (&order == &own && cells.bytes == 4 && last == Verdict::kFine && !access.strong())
        take_back(word, before, access, own);
      continue;
    }
    if (bytes < 4 && !is_marked(writes_[word])) split(word);
    if (!is_marked(writes_[word])) {
      add(access_cell(&writes_[word], &reads_[word], access, order), word * 4, 4);
      continue;
    }
    for (std::uint32_t byte = begin; byte < end; ++byte) {
      add(access_cell(&byte_writes_[byte], &byte_reads_[byte], access, order), byte, 1);
    }
  }
  if (unwritten == cells) worst.verdict = Verdict::kUninitialised;
  worst.encounter = encounter;
  return worst;
}

bool SharedMemory::is_written(std::uint32_t offset, std::uint32_t bytes, Who begin) const {
  const auto written = [&](Who who) { return who >= begin && !is_marked(who); };
  for (std::uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (writes_[word] == kOfCluster) {
      if (!cluster_cells_.is_written(word)) return false;
      continue;
    }
    const Who* const cells = byte_writes_.data() + std::size_t{word} * 4;
    const bool whole = writes_[word] == kBytewise ? std::all_of(cells, cells + 4, written)
                                                  : written(writes_[word]);
    if (!whole) return false;
  }
  return true;
}

void SharedMemory::begin_copy(std::uint32_t offset, std::uint32_t bytes, Who who) {
  for (std::uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    writes_[word] = kCopy | (who & (kWarpBits | 31u << kLaneShift));
  }
  marked_ = true;
}

void SharedMemory::end_copy(std::uint32_t offset, std::uint32_t bytes, Who who) {
  for (std::uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    writes_[word] = who;
    reads_[word] = 0;
  }
}

void SharedMemory::begin_read(std::uint32_t offset, std::uint32_t bytes, Who who) {
  for (std::uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    reads_[word] = kCopied | (who & (kWarpBits | 31u << kLaneShift));
  }
  marked_ = true;
}

void SharedMemory::end_read(std::uint32_t offset, std::uint32_t bytes, Who who) {
  for (std::uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    reads_[word] = who;
    if (writes_[word] == kBytewise)
      std::fill_n(byte_reads_.begin() + std::ptrdiff_t{word} * 4, 4, who);
  }
}

}  // namespace krl::machine
