// The block's view of old values.
#include "plugins/backends/cpu/machine/memory/old_values.hpp"

#include <cstring>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"

namespace krl::machine {
namespace {

// Returns the key for what a warp has seen at a place.
std::uint64_t seen_by(std::uint32_t warp, std::uint64_t place) {
  return place | std::uint64_t{warp} << 24;
}

}  // namespace

void BlockMemory::keep_old(const Request& request, const Region& region, std::uint64_t address,
                           const Access& access) {
  OldValues& values = launch_.old_values();
  if (!values.kept() || request.bytes > OldValue::kMostBytes) return;
  OldValue old;
  old.write = Record{order_.serial()} << kSerialShift | access.who;
  old.time = launch_.shadow().time();
  old.bytes = request.bytes;
  std::memcpy(old.value.data(), region.host + (address - region.begin), request.bytes);
  const SyncWords& words = launch_.shadow().words();
  if (const auto found = words.find(address / 4); found != words.end()) {
    old.published = found->second;
  }
  seen_[address] = values.replace(address, std::move(old));
}

// A strong read finds the old value once, and then what replaced it; a plain one as long as the
// block has not seen that, like one that the L1 cache answers. The old value is in memory until
// show_present.
bool BlockMemory::show_old(const Request& request, const Region& region, std::uint64_t address,
                           const Access& access, Record write) {
  const OldValue* const old = launch_.old_values().find(address);
  if (old == nullptr || old->bytes != request.bytes) return false;
  const bool is_last = write >> kLaneShift == old->write >> kLaneShift;
  if (!is_last || order_.is_ordered(write, request.warp)) return false;
  if (order_.fenced_since(write, old->time)) return false;
  std::uint64_t& seen = seen_[address];
  if (seen >= old->version) return false;
  if (request.strong || request.access.past_l1) {
    order_.take_up(old->published, access);
    seen = old->version;
  }
  hide(region.host + (address - region.begin), *old);
  return true;
}

void BlockMemory::hide(std::byte* at, const OldValue& old) {
  Hidden& hidden = hidden_.emplace_back(Hidden{at, old.bytes, {}});
  std::memcpy(hidden.value.data(), at, old.bytes);
  std::memcpy(at, old.value.data(), old.bytes);
}

// No address of global memory.
std::uint64_t BlockMemory::place_of_shared(std::uint32_t offset) const {
  return std::uint64_t{1} << 63 | std::uint64_t{order_.serial()} << 32 | offset;
}

// Between the warps of a block the same holds of shared memory: each of them may find a word as it
// was once.
void BlockMemory::keep_old_shared(const Request& request, std::uint32_t offset, Who who) {
  if (request.bytes > OldValue::kMostBytes) return;
  OldValue old;
  old.write = who;
  old.bytes = request.bytes;
  std::memcpy(old.value.data(), shared_.data() + offset, request.bytes);
  old.published = order_.published_shared(offset / 4);
  const std::uint64_t place = place_of_shared(offset);
  seen_[seen_by(request.warp, place)] = launch_.old_values().replace(place, std::move(old));
}

bool BlockMemory::show_old_shared(const Request& request, std::uint32_t offset, Who write) {
  const std::uint64_t place = place_of_shared(offset);
  const OldValue* const old = launch_.old_values().find(place);
  if (old == nullptr || old->bytes != request.bytes) return false;
  const bool is_last = write >> kLaneShift == old->write >> kLaneShift;
  if (!is_last || order_.is_ordered_in_block(write, request.warp)) return false;
  std::uint64_t& seen = seen_[seen_by(request.warp, place)];
  if (seen >= old->version) return false;
  seen = old->version;
  order_.take_up_shared(old->published, request.warp);
  hide(shared_.data() + offset, *old);
  return true;
}

void BlockMemory::show_present() {
  for (; !hidden_.empty(); hidden_.pop_back()) {
    std::memcpy(hidden_.back().at, hidden_.back().value.data(), hidden_.back().bytes);
  }
}

}  // namespace krl::machine
