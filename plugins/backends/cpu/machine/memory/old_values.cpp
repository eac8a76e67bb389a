// The block's view of old values.
#include "plugins/backends/cpu/machine/memory/old_values.hpp"

#include <cstring>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"

namespace krl::machine {

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
  std::byte* const at = region.host + (address - region.begin);
  Hidden& hidden = hidden_.emplace_back(Hidden{at, old->bytes, {}});
  std::memcpy(hidden.value.data(), at, old->bytes);
  std::memcpy(at, old->value.data(), old->bytes);
  return true;
}

void BlockMemory::show_present() {
  for (; !hidden_.empty(); hidden_.pop_back()) {
    std::memcpy(hidden_.back().at, hidden_.back().value.data(), hidden_.back().bytes);
  }
}

}  // namespace krl::machine
