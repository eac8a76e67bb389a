// Accesses to shared memory of other blocks of the cluster (distributed shared memory).
#include <algorithm>
#include <bit>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/faults.hpp"

namespace krl::machine {
namespace {

constexpr unsigned kThreadBits = 10;  // a warp and a lane

}  // namespace

// Returns the block whose shared memory a lane may access at the offset.
BlockMemory& BlockMemory::find_peer(const Request& request, unsigned lane, std::uint64_t offset) {
  if (offset >= kWindowBytes) throw_outside_shared({launch_, request, lane, offset});
  const std::uint32_t rank = block_named_by(offset) - 1;
  Culprit culprit{launch_, request, lane, static_cast<std::uint64_t>(offset_in_block(offset)),
                  static_cast<std::int32_t>(rank)};
  if (rank >= cluster_->blocks()) throw_no_such_block(culprit, cluster_->blocks());
  BlockMemory& owner = cluster_->memory(rank);
  if (&owner != this && request.access.own_block) throw_not_own_block(culprit);
  if (cluster_->has_ended(rank)) throw_block_has_ended(culprit);
  const std::uint64_t bytes = owner.shared_.bytes();
  if (culprit.address > bytes || request.bytes > bytes - culprit.address)
    throw_outside_shared(culprit);
  if (culprit.address % request.bytes != 0) throw_misaligned(culprit);
  return owner;
}

BlockMemory::SharedPlace BlockMemory::find_shared(const Request& request, unsigned lane,
                                                  std::uint64_t offset) {
  const bool own = cluster_ == nullptr || offset >= kWindowBytes || block_named_by(offset) == 0;
  if (own) {
    check_shared(request, lane, offset);
    return {*this, static_cast<std::uint32_t>(offset)};
  }
  BlockMemory& owner = find_peer(request, lane, offset);
  return {owner, static_cast<std::uint32_t>(offset_in_block(offset))};
}

// The first lane's address names a block by its rank, and so do all.
std::byte* BlockMemory::access_peer(const Request& request, const LaneAddresses& addresses,
                                    const Shape** found) {
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t address =
        addresses.first + static_cast<std::uint64_t>(std::int64_t{addresses.delta[lane]});
    if (block_named_by(address) != block_named_by(addresses.first))
      throw_outside_shared({launch_, request, lane, address});
    find_peer(request, lane, address);
  }
  BlockMemory& owner = cluster_->memory(block_named_by(addresses.first) - 1);
  LaneAddresses offsets = addresses;
  offsets.first = static_cast<std::uint64_t>(offset_in_block(addresses.first));
  if (&owner == this) return access_shared(request, offsets, found);
  MemoryAccess& access = request.access;
  const WordShape& shape = access.shapes.words(offsets, request.bytes);
  ++access.counts.shared_requests;
  access.counts.wavefronts += shape.wavefronts;
  access.counts.bank_conflicts += shape.bank_conflicts;
  if (!request.write) path(request.warp).load(MemoryLevel::kL2, access);
  access_shared_by_lane(request, offsets, owner);
  *found = &shape;
  return owner.shared_.data() + offsets.first;
}

void BlockMemory::note_peer(const PeerAccess& access, std::uint32_t word) {
  const Who who = who_of(access.record);
  if ((who & kStrong) != 0) {
    strong_peers_[word] = access;
  } else {
    plain_peers_[access.rank << kThreadBits | warp_of(who) * kLanes | lane_of(who)] = access;
  }
}

void BlockMemory::check_peers_are_done() {
  if (plain_peers_.empty() && strong_peers_.empty()) return;
  Knowledge known = order_.known_to_any();
  known.join(known_before_end_);
  for (const auto* peers : {&plain_peers_, &strong_peers_}) {
    const PeerAccess* first = nullptr;
    for (const auto& [key, access] : *peers) {
      if (order_.covers(known, access.record)) continue;
      if (first == nullptr || access.record < first->record) first = &access;
    }
    if (first == nullptr) continue;
    const Who who = who_of(first->record);
    throw_ends_too_early(launch_, first->rank, warp_of(who) * kLanes + lane_of(who), first->line,
                         first->write);
  }
}

// In a cluster, words have numbers that no address of global memory and no other block has.
void BlockMemory::synchronise_shared(const SharedPlace& place, std::uint32_t bytes,
                                     const Access& access) {
  constexpr std::uint64_t kInCluster = std::uint64_t{1} << 62;
  const std::uint64_t begin =
      cluster_ == nullptr ? 0 : kInCluster | std::uint64_t{place.owner.rank_} << kRankShift;
  synchronise(begin + place.offset, bytes, access);
}

}  // namespace krl::machine
