// Accesses to shared memory.
#include <bit>
#include <cstring>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/faults.hpp"

namespace krl::machine {

void BlockMemory::check_shared(const Request& request, unsigned lane, std::uint64_t offset) const {
  const std::uint64_t bytes = shared_.bytes();
  if (offset > bytes || request.bytes > bytes - offset) {
    throw_outside_shared({launch_, request, lane, offset});
  }
  if (offset % request.bytes != 0) throw_misaligned({launch_, request, lane, offset});
}

std::byte* BlockMemory::access_shared(const Request& request, const LaneAddresses& addresses,
                                      const Shape** found) {
  if (cluster_ != nullptr && block_named_by(addresses.first) != 0)
    return access_peer(request, addresses, found);
  MemoryAccess& access = request.access;
  const WordShape& shape = access.shapes.words(addresses, request.bytes);
  const auto first = static_cast<std::int64_t>(addresses.first);
  const bool inside = first - shape.below >= 0 && first + shape.above <= shared_.bytes() &&
                      addresses.first < kWindowBytes;
  const bool aligned = (addresses.first & (request.bytes - 1)) == 0 && shape.misaligned_lane < 0;
  if (!inside || !aligned) [[unlikely]] {
    for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::int64_t delta = addresses.delta[lane];
      check_shared(request, lane, addresses.first + static_cast<std::uint64_t>(delta));
    }
  }
  ++access.counts.shared_requests;
  access.counts.wavefronts += shape.wavefronts;
  access.counts.bank_conflicts += shape.bank_conflicts;
  if (!request.write) path(request.warp).load(MemoryLevel::kShared, access);
  *found = &shape;
  const Who now = present(request.warp);
  const auto word = static_cast<std::uint32_t>(addresses.first) / 4;
  const bool plain_words = request.bytes >= 4 && !request.strong;
  const bool fine =
      plain_words && (request.write ? !shape.overlapping && shared_.store(shape, word, now, order_)
                                    : shared_.load(shape, word, now, order_));
  if (!fine) [[unlikely]]
    access_shared_by_lane(request, addresses, *this);
  return shared_.data() + addresses.first;
}

const std::byte* BlockMemory::read_chunk(const Request& request, unsigned lane,
                                         std::uint32_t offset) {
  check_shared(request, lane, offset);
  if (!shared_.load_chunk(offset / 4, who(request.warp, lane), order_)) [[unlikely]] {
    Conflict conflict;
    enter_shared(request, lane, offset, &conflict);
  }
  check_proxy(request, lane, offset, request.bytes);
  return shared_.data() + offset;
}

// Stores lane by lane, because each store may have to keep bytes that the one before stored.
void BlockMemory::access_shared_by_lane(const Request& request, const LaneAddresses& addresses,
                                        BlockMemory& owner) {
  alignas(16) std::byte value[kMostLaneBytes];
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto offset = static_cast<std::uint32_t>(static_cast<std::int64_t>(addresses.first) +
                                                   addresses.delta[lane]);
    const SharedPlace place{owner, offset};
    Conflict conflict;
    const bool if_changed = enter_shared(request, lane, place, &conflict);
    if (request.values == nullptr) continue;
    request.values->copy(lane, value);
    if (if_changed && std::memcmp(place.at(), value, request.bytes) != 0) {
      throw_race({launch_, request, lane, offset, rank_of(place)}, true, conflict);
    }
    std::memcpy(place.at(), value, request.bytes);
  }
}

bool BlockMemory::enter_shared(const Request& request, unsigned lane, const SharedPlace& place,
                               Conflict* conflict) {
  const Access access = access_of(request, lane, true);
  held_ |= request.line == launch_.held_line();
  const std::uint32_t offset = place.offset;
  // In a cluster, old values are not tried: knowledge of what other blocks released came with them.
  const bool kept = cluster_ == nullptr && launch_.old_values().kept();
  const Who write = kept ? shared_.last_writer(offset) : 0;
  const SharedMemory::Outcome outcome =
      place.owner.shared_.access(offset, request.bytes, access, order_, place.owner.order_);
  *conflict = outcome.conflict;
  if (&place.owner != this) [[unlikely]] {
    place.owner.note_peer(
        {Record{order_.serial()} << kSerialShift | access.who, rank_, request.line, request.write},
        offset / 4);
  } else if (request.strong && (request.atomic || !request.write)) {
    strong_peers_.erase(offset / 4);
  }
  const Culprit culprit{launch_, request, lane, offset, rank_of(place)};
  if (outcome.copy_under_way) throw_copy_under_way(culprit, outcome.conflict);
  if (outcome.verdict == Verdict::kRace) throw_race(culprit, true, outcome.conflict);
  if (outcome.verdict == Verdict::kUninitialised) {
    if (!request.access.movable || request.strong)
      throw_uninitialised(culprit, ptx::Space::kShared);
    launch_.note_unset(request.line, "shared memory that no thread of the block has written");
    return false;
  }
  const bool redundant = outcome.verdict == Verdict::kIfChanged && outcome.conflict.other_wrote &&
                         !request.strong && launch_.redundant_threads();
  if (redundant) return false;
  if (outcome.encounter) [[unlikely]]
    note_encounter(request, true, lane, offset);
  if (kept && !request.write && request.may_be_old && show_old_shared(request, offset, write))
    return false;
  if (kept && request.strong && request.write) keep_old_shared(request, offset, access.who);
  if (request.strong) synchronise_shared(place, request.bytes, access);
  return outcome.verdict == Verdict::kIfChanged;
}

}  // namespace krl::machine
