#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"

#include <algorithm>

namespace krl::machine {
namespace {

// 32-byte sectors of the lanes' words, which are side by side.
std::uint32_t local_sectors(const LaneAddresses& addresses, std::uint32_t bytes) {
  std::uint64_t touched[kLanes * kMostLaneBytes / 4];
  std::size_t count = 0;
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset =
        addresses.first + static_cast<std::uint64_t>(std::int64_t{addresses.delta[lane]});
    for (std::uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      touched[count++] = word * (kLanes / 8) + lane / 8;
    }
  }
  std::sort(touched, touched + count);
  return static_cast<std::uint32_t>(std::unique(touched, touched + count) - touched);
}

}  // namespace

void access_local(BlockMemory& memory, const Request& request, const LaneAddresses& addresses,
                  std::byte* frame) {
  const Activation& call = activation(frame);
  const std::uint32_t usable = call.local_base + call.function->local_bytes;
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset =
        addresses.first + static_cast<std::uint64_t>(std::int64_t{addresses.delta[lane]});
    const Culprit culprit{memory.launch(), request, lane, offset};
    if (offset > usable || request.bytes > usable - offset) throw_outside_local(culprit, usable);
    if (offset % request.bytes != 0) throw_misaligned(culprit);
  }
  if (usable > kLocalBytes) throw_stack_overflow(request.line);
  LocalMemory& local = memory.local(request.warp);
  local.use(usable, memory.launch().garbage());
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto offset = static_cast<std::uint32_t>(static_cast<std::int64_t>(addresses.first) +
                                                   addresses.delta[lane]);
    if (request.write) {
      local.set_written(lane, offset, request.bytes);
    } else if (!local.is_written(lane, offset, request.bytes)) {
      if (!request.access.idle) {
        throw_uninitialised({memory.launch(), request, lane, offset}, ptx::Space::kLocal);
      }
      memory.launch().note_unset(request.line, "local memory that the thread has not written");
    }
  }
  AccessCounts& counts = request.access.counts;
  ++counts.local_requests;
  counts.local_sectors += local_sectors(addresses, request.bytes);
  if (request.write) return;
  memory.path(request.warp).load(MemoryLevel::kL1, request.access);
}

ptx::Space find_group(BlockMemory& memory, const Request& request, const AddressRow& row, Mask mask,
                      ptx::Space space, LaneAddresses* group) {
  const auto lowest = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint64_t first = row.of(lowest);
  const ptx::Space found = space == ptx::Space::kGeneric         ? space_of(first)
                           : space == ptx::Space::kConstant      ? ptx::Space::kGlobal
                           : space == ptx::Space::kSharedCluster ? ptx::Space::kShared
                                                                 : space;
  const std::uint64_t window = space == ptx::Space::kGeneric ? window_of(found) : 0;
  const std::uint64_t parameter_bytes = memory.launch().parameters().size();
  std::uint64_t begin = window, end = window + kWindowBytes;
  if (found == ptx::Space::kShared) {  // all of one block
    constexpr std::uint64_t kHalf = std::uint64_t{1} << (kRankShift - 1);
    const std::uint64_t block = std::uint64_t{block_named_by(first - window)} << kRankShift;
    begin += block == 0 ? 0 : block - kHalf;
    end = window + block + kHalf;
  } else if (found == ptx::Space::kGlobal) {
    const Region& region = memory.find_global(request, lowest, first);
    begin = region.begin;
    end = region.end;
  } else if (found == ptx::Space::kParameter) {
    end = begin + parameter_bytes;
    const Culprit culprit{memory.launch(), request, lowest, first};
    if (request.write || first < begin || first + request.bytes > end) {
      throw_outside_buffers(culprit);
    }
    if (first % request.bytes != 0) throw_misaligned(culprit);
  }
  group->first = first - window;
  group->mask = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    group->delta[lane] = 0;
    if ((mask >> lane & 1) == 0) continue;
    const std::uint64_t address = row.of(lane);
    const auto delta = static_cast<std::int64_t>(address - first);
    const bool together =
        lane == lowest ||
        (address >= begin && address < end && request.bytes <= end - address &&
         address % request.bytes == 0 && delta == static_cast<std::int32_t>(delta));
    if (!together) continue;
    group->delta[lane] = static_cast<std::int32_t>(delta);
    group->mask |= Mask{1} << lane;
  }
  return found;
}

}  // namespace krl::machine
