#include "plugins/backends/cpu/machine/memory/block_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "plugins/backends/cpu/machine/fault.hpp"

namespace krl::machine {
namespace {

// An estimate: as the load-store unit takes requests.
constexpr double kClocksPerAddress = 2;

std::uint32_t different_addresses(const LaneAddresses& addresses) {
  std::array<std::int32_t, kLanes> deltas;
  std::size_t count = 0;
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    deltas[count++] = addresses.delta[std::countr_zero(rest)];
  }
  const auto end = deltas.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(deltas.begin(), end);
  return static_cast<std::uint32_t>(std::unique(deltas.begin(), end) - deltas.begin());
}

}  // namespace

void BlockMemory::begin_block(std::uint32_t warps, double start, Cluster* cluster) {
  start_ = start;
  cluster_ = cluster;
  rank_ = cluster == nullptr ? 0 : cluster->blocks() - 1;
  plain_peers_.clear();
  strong_peers_.clear();
  known_before_end_ = {};
  const bool stamps_go_on = order_.begin_block(cluster == nullptr ? nullptr : &cluster->words());
  shared_.begin_block(launch_.shared_bytes(), !stamps_go_on);
  if (!stamps_go_on) proxy_.reset_stamps();
  if (launch_.program().system_shared_bytes > 0) initialise_system_shared();
  warps = std::min(warps, kWarpsPerBlock);
  warps_ = warps;
  path_.begin(warps);
  for (ProductsUnderWay& products : products_) products.begin_block();
  proxy_.begin_block();
  bulk_.begin_block();
  wait_ = {};
  seen_.clear();
  hidden_.clear();
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    local_[warp].begin_block();
    copies_[warp].begin_block();
  }
}

void BlockMemory::initialise_system_shared() {
  const Program& program = launch_.program();
  const std::uint32_t begin = program.shared_bytes - program.system_shared_bytes;
  std::memset(shared_.data() + begin, 0, program.system_shared_bytes);
  shared_.end_copy(begin, program.system_shared_bytes, who(0, 0));
  order_.barrier();
}

void BlockMemory::barrier_passed() {
  order_.barrier();
  path_.join();
}

// "The cost scales linearly with the number of unique addresses read by all threads within a warp":
// CUDA C++ Best Practices Guide, "Constant Memory".
void BlockMemory::read_constant(const Request& request, const LaneAddresses& addresses) {
  const std::uint32_t repeats = different_addresses(addresses) - 1;
  request.access.counts.constant_repeats += repeats;
  path(request.warp).wait(kClocksPerAddress * repeats, 0);
}

double BlockMemory::receive(std::uint32_t warp, const WatchedWords& words, double now) {
  auto& times = launch_.write_times();
  WriteTime last;
  words.each_word([&](const std::byte* word) {
    const auto found = times.find(word);
    if (found != times.end() && found->second.clocks > last.clocks) last = found->second;
  });
  const double late = last.clocks - now;
  if (late <= 0) return now;
  // The path of the writer's block does not include the writer's own waits for other blocks.
  const bool own = launch_.shadow().same_block(last.serial, order_.serial());
  const double idle = own ? std::clamp(last.idle - path_.idle(warp), 0.0, late) : late;
  path(warp).wait(late - idle, idle);
  return last.clocks;
}

void BlockMemory::hand_over(std::uint32_t warp, const WatchedWords& words, double now) {
  auto& times = launch_.write_times();
  words.each_word([&](const std::byte* word) {
    WriteTime& last = times[word];
    if (now >= last.clocks) last = {now, path_.idle(warp), order_.serial()};
  });
}

void BlockMemory::end_copy(std::uint32_t warp, const AsyncCopies::Copy& copy, unsigned lane) {
  std::memcpy(shared_.data() + copy.offset[lane], copy.data[lane].data(), copy.bytes);
  // The asynchronous proxy sees it without a fence: compilers emit none for cp.async before wgmma.
  shared_.end_copy(copy.offset[lane], copy.bytes, who(warp, lane) | kElsewhere);
}

void BlockMemory::finish_copies(std::uint32_t warp, Mask lanes) {
  copies_[warp].wait_all(
      lanes, [&](const AsyncCopies::Copy& copy, unsigned lane) { end_copy(warp, copy, lane); });
}

// All warps of a warpgroup execute the same operations, with the same descriptors.
void BlockMemory::check_warpgroups() const {
  for (std::uint32_t first = 0; first + kWarpsPerGroup <= warps_; first += kWarpsPerGroup) {
    for (std::uint32_t warp = first + 1; warp < first + kWarpsPerGroup; ++warp) {
      const auto &one = products_[first].executed(), &other = products_[warp].executed();
      if (one == other) continue;
      const std::uint32_t line = one.count > other.count ? one.line : other.line;
      throw Fault{FaultKind::kDivergentBarrier,
                  "the four warps of a warpgroup must execute the same wgmma instructions with the "
                  "same descriptors, but warp " +
                      std::to_string(first) + " executes " + std::to_string(one.count) +
                      " of them and warp " + std::to_string(warp) + " executes " +
                      (one.count == other.count ? "others" : std::to_string(other.count)),
                  line, -1};
    }
  }
}

void BlockMemory::renew_stamps() {
  shared_.reset_stamps(order_.block_begin());
  order_.reset_stamps();
  proxy_.reset_stamps();
}

}  // namespace krl::machine
