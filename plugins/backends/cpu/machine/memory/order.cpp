#include "plugins/backends/cpu/machine/memory/order.hpp"

namespace krl::machine {

bool AccessOrder::begin_block(SyncWords* cluster_words) {
  cluster_words_ = cluster_words;
  serial_ = shadow_.begin_block();
  const bool enough = next_stamp_ < kStamps / 2;
  if (!enough) next_stamp_ = stamp_of(kOrdered) + 1;
  synchronisation_.begin_block(serial_);
  met_.fill(0);
  all_met_.fill(0);
  barrier();
  begin_ = barrier_;
  return enough;
}

void AccessOrder::barrier() {
  barrier_ = first_of_stamp(next_stamp_);
  present_.fill(0);
  have_met_.fill(0);
  synchronisation_.barrier();
}

void AccessOrder::take_stamp(std::uint32_t warp) {
  present_[warp] = first_of_stamp(next_stamp_++) | warp << kWarpShift;
}

void AccessOrder::reset_stamps() {
  shadow_.block(serial_).forgotten = true;
  serial_ = shadow_.continue_block(serial_);
  next_stamp_ = stamp_of(kOrdered) + 1;
  begin_ = kOrdered;
  met_.fill(0);
  all_met_.fill(0);
  barrier();
}

// After a release, the warp's accesses need another stamp than those before it.
void AccessOrder::fence(std::uint32_t warp, Mask lanes, Fence fence) {
  if (fence.acquires()) synchronisation_.acquire(warp, fence.scope());
  if (!fence.releases()) return;
  if (fence.scope() == Scope::kDevice) shadow_.block(serial_).fenced = shadow_.next_time();
  Knowledge own;
  add_own(warp, lanes, &own);
  synchronisation_.release(warp, lanes, fence.scope(), own);
  present_[warp] = 0;
}

// The accesses of lanes of a warp, and those of the block before its last barrier.
void AccessOrder::add_own(std::uint32_t warp, Mask lanes, Knowledge* to) const {
  const std::uint32_t block = shadow_.block(serial_).first_serial;
  to->add_block(block, bound_of(serial_, barrier_));
  to->add_warp(
      block, warp,
      {bound_of(serial_, met_[warp]), bound_of(serial_, first_of_stamp(next_stamp_)), lanes});
}

void AccessOrder::release_to_cluster(std::uint32_t warp, Mask lanes, const Knowledge& known,
                                     Knowledge* to) {
  add_own(warp, lanes, to);
  synchronisation_.add_learned(warp, known, to);
  present_[warp] = 0;
}

Knowledge AccessOrder::before_barrier() const {
  Knowledge all = synchronisation_.known();
  all.add_block(shadow_.block(serial_).first_serial, bound_of(serial_, barrier_));
  return all;
}

// Once stamps have been used up, what was before counts as ordered for all.
Record AccessOrder::record_of(Who who) const {
  const bool marked = stamp_of(who) == kStamps - 1;  // a copy reads the word; no thread does
  if (who < begin_ || marked) return 0;
  const bool forgotten = who < first_of_stamp(stamp_of(kOrdered) + 1);
  const std::uint32_t serial = forgotten ? shadow_.block(serial_).first_serial : serial_;
  return Record{serial} << kSerialShift | who;
}

bool AccessOrder::is_known_to_all(Record record) const {
  if (!of_this_launch(record)) return true;
  if (of_this_block(record)) return serial_of(record) != serial_ || who_of(record) < barrier_;
  return covers(synchronisation_.known(), record);
}

Knowledge AccessOrder::known_to_any() const {
  Knowledge known = synchronisation_.known();
  for (std::uint32_t warp = 0; warp < kWarpsPerBlock; ++warp)
    synchronisation_.add_learned(warp, {}, &known);
  return known;
}

bool AccessOrder::covers(const Knowledge& known, Record record) const {
  const BlockRecord& block = shadow_.block(serial_of(record));
  return block.forgotten || known.covers(block.first_serial, record);
}

void AccessOrder::synchronise(std::uint64_t word, const Access& access) {
  SyncWords* const words = access.shared ? cluster_words_ : &shadow_.words();
  const std::uint32_t warp = warp_of(access.who);
  if (!access.write || access.atomic) synchronisation_.read(words, word, warp, access.scope);
  if (!access.write) return;
  synchronisation_.write(words, word, warp, lane_of(access.who), access.scope, access.atomic);
}

Verdict AccessOrder::judge(const Cell& cell, const Access& access, Conflict* conflict) const {
  const bool first = access.shared && !of_this_launch(cell.write);
  if (first && (!access.write || access.changes)) return Verdict::kUninitialised;
  return access.write ? judge_write(cell, access, conflict) : judge_read(cell, access, conflict);
}

// True if a warp-wide operation orders an earlier access of the same warp before the present one.
bool AccessOrder::ordered_by_meeting(Who earlier, Who now) const {
  const std::uint32_t warp = warp_of(now);
  if (earlier < all_met_[warp]) return true;
  const Mask both = have_met_[warp] >> lane_of(earlier) & have_met_[warp] >> lane_of(now);
  return earlier < met_[warp] && (both & 1) != 0;
}

// True if nothing orders an earlier access before the present one; `conflict` then names its
// thread.
bool AccessOrder::unordered(Record earlier, Who now, bool of_writer, Conflict* conflict) const {
  if (!of_this_launch(earlier)) return false;
  const Who who = who_of(earlier);
  const std::uint32_t warp = warp_of(who), lane = lane_of(who);
  *conflict = {warp * kLanes + lane, !of_this_block(earlier), of_writer};
  if (conflict->other_block) return !knows(warp_of(now), earlier);
  if (serial_of(earlier) != serial_ || who < barrier_) return false;
  if (same_warp(who, now)) {
    // It is unknown which other warps made the access.
    if (!of_writer && (who & kManyWarps) != 0) return !synchronisation_.is_active(warp);
    if (ordered_by_meeting(who, now)) return false;
    if (lane == lane_of(now) && (who & kMany) == 0) return false;
  }
  return !knows(warp_of(now), earlier);
}

Verdict AccessOrder::judge_read(const Cell& cell, const Access& access, Conflict* conflict) const {
  const Who writer = who_of(cell.write);
  const bool in_this_interval =
      serial_of(cell.write) == serial_ && writer >= barrier_ && of_this_launch(cell.write);
  // Atomics of several warps: the last may be the reader's own, the others are not.
  if ((writer & kManyWarps) != 0 && in_this_interval && access.shared && !access.strong() &&
      !synchronisation_.is_active(warp_of(access.who))) {
    *conflict = {warp_of(writer) * kLanes + lane_of(writer), false, true};
    return Verdict::kRace;
  }
  if (access.read_only && of_this_launch(cell.write) && !of_this_block(cell.write)) {
    *conflict = {warp_of(writer) * kLanes + lane_of(writer), true, true};
    return Verdict::kRace;
  }
  if ((writer & kStrong) != 0 && (access.strong() || !access.shared)) return Verdict::kFine;
  // Several threads stored the same value, and this may be one of them.
  if ((writer & kMany) != 0 && in_this_interval) return Verdict::kFine;
  const Record of_one = cell.write & ~Record{kMany};
  return unordered(of_one, access.who, true, conflict) ? Verdict::kRace : Verdict::kFine;
}

Verdict AccessOrder::judge_write(const Cell& cell, const Access& access, Conflict* conflict) const {
  const bool both_strong = access.strong() && (cell.write & kStrong) != 0;
  if (unordered(cell.write, access.who, true, conflict)) {
    const bool in_scope = access.scope == Scope::kDevice || !conflict->other_block;
    const bool reads = access.atomic && !access.reduces && (cell.write & kStrong) == 0;
    if (reads) return Verdict::kRace;
    if (!both_strong || !in_scope) return Verdict::kIfChanged;
  }
  const bool reader_may_race = !(access.strong() && ((cell.read & kStrong) != 0 || !access.shared));
  if (reader_may_race && unordered(cell.read, access.who, false, conflict)) {
    return Verdict::kIfChanged;
  }
  return Verdict::kFine;
}

bool AccessOrder::encounters(const Cell& cell, const Access& access) const {
  const auto with = [&](Record known) {
    if (!of_this_launch(known) || (access.reduces && (known & kStrong) != 0)) return false;
    if (!of_this_block(known)) return !access.shared || !knows(warp_of(access.who), known);
    const Who who = who_of(known);
    if (serial_of(known) != serial_ || who < barrier_) return false;
    if (!same_warp(who, access.who))
      return cluster_words_ == nullptr || !knows(warp_of(access.who), known);
    const bool of_others = lane_of(who) != lane_of(access.who) || (who & kMany) != 0;
    const bool strong = access.strong() || (who & kStrong) != 0;
    return of_others && strong && !ordered_by_meeting(who, access.who);
  };
  return with(cell.write) || (access.write && with(cell.read));
}

void AccessOrder::remember(Cell* cell, const Access& access, Verdict verdict,
                           std::uint64_t pattern) {
  if (!access.write) return remember_read(cell, access, pattern);
  Who who = access.who;
  if (verdict == Verdict::kIfChanged) who |= kMany;
  if (access.strong()) {
    const Who before = who_of(cell->write);
    if (serial_of(cell->write) == serial_ && before >= barrier_ && (before & kStrong) != 0) {
      who |= same_warp(before, who) ? before & kManyWarps : kManyWarps;
    }
  }
  cell->write = Record{serial_} << kSerialShift | pattern | who;
}

// Keeps the thread that read first and notes if others have read, too; reads that are ordered
// before the present access are forgotten.
void AccessOrder::remember_read(Cell* cell, const Access& access, std::uint64_t pattern) const {
  const Who before = who_of(cell->read);
  const Record now = Record{serial_} << kSerialShift | pattern | access.who;
  const bool concurrent = serial_of(cell->read) == serial_ && before >= barrier_;
  const Record kept = cell->read & ~Record{kStrong & ~access.who};  // strong only if both are
  if (!concurrent) {
    cell->read = now;
  } else if (!same_warp(before, access.who)) {
    cell->read = kept | kManyWarps;
  } else if ((before & kManyWarps) != 0) {
    cell->read = kept;
  } else if (!same_stamp(before, access.who)) {
    cell->read = now;
  } else {
    const bool same_lanes = (cell->read >> kLaneShift) == (now >> kLaneShift);
    cell->read = kept | (now & kMany) | (same_lanes ? 0 : kMany);
  }
}

}  // namespace krl::machine
