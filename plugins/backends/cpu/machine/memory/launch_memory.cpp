#include "plugins/backends/cpu/machine/memory/launch_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/memory/device_calls.hpp"

namespace krl::machine {
namespace {

// Between buffers at least; a wrong index of a kernel seldom goes further.
constexpr std::uint64_t kGap = 64 << 20;
// An address within this distance of a buffer is taken to be meant for it.
constexpr std::uint64_t kNear = kGap / 2;
constexpr std::uint64_t kRegionAlignment = 256;

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}
bool begins_with_values(const cpu::Buffer& buffer) {
  return buffer.role == cpu::Role::kInput || buffer.role == cpu::Role::kInOut;
}
std::uint64_t sectors_of(const cpu::Buffer& buffer) {
  return begins_with_values(buffer) ? 0 : (buffer.bytes + kSectorBytes - 1) / kSectorBytes;
}
void add(const MemoryAccess& access, cpu::Counters* counters) {
  const AccessCounts& c = access.counts;
  counters->shared_wavefronts += c.wavefronts;
  counters->bank_conflicts += c.bank_conflicts;
  counters->atomic_passes += c.atomic_passes;
  counters->shared_atomic_repeats += c.shared_repeats;
  counters->shared_atomic_loops += c.shared_loops;
  counters->constant_repeats += c.constant_repeats;
  counters->local_requests += c.local_requests;
  counters->local_sectors += c.local_sectors;
  if (access.kind == AccessKind::kAtomic) {
    counters->global_atomics += c.global_requests;
    counters->shared_atomics += c.shared_requests;
    counters->dram_load_sectors += c.dram_reads;
    counters->dram_store_sectors += c.dram_sectors;
    return;
  }
  counters->needed_sectors += c.needed_sectors;
  counters->vector8_requests += access.lane_bytes() == 8 ? c.global_requests : 0;
  counters->vector16_requests += access.lane_bytes() >= 16 ? c.global_requests : 0;
  const bool stores_shared = access.kind != AccessKind::kLoad;
  (stores_shared ? counters->shared_store_requests : counters->shared_load_requests) +=
      c.shared_requests;
  if (access.kind == AccessKind::kStore) {
    counters->global_store_requests += c.global_requests;
    counters->global_store_sectors += c.sectors;
    counters->dram_store_sectors += c.dram_sectors;
  } else {
    counters->global_load_requests += c.global_requests;
    counters->global_load_sectors += c.sectors;
    counters->dram_load_sectors += c.dram_sectors;
    counters->l2_sectors += c.l2_sectors;
    counters->l1_sectors += c.l1_sectors;
  }
}

}  // namespace

LaunchMemory::LaunchMemory(const std::vector<GlobalVariable>& variables, std::span<std::byte> arena)
    : variables_(variables), arena_(arena) {}

void LaunchMemory::begin_run(const cpu::Run& run) {
  const std::vector<cpu::Buffer>& buffers = run.buffers;
  held_line_ = run.held_line;
  redundant_threads_ = run.redundant_threads;
  old_values_.begin_run(run.order == cpu::Order::kLockstep);
  garbage_ = cpu::Garbage(run.garbage);
  regions_.clear();
  encounters_.clear();
  unset_.clear();
  printed_.clear();
  std::uint64_t variable_bytes = 0;
  for (const GlobalVariable& variable : variables_) variable_bytes += aligned(variable.bytes);
  variable_bytes_.assign(variable_bytes, std::byte{0});
  std::uint64_t arena_bytes = 0;
  for (const cpu::Buffer& buffer : buffers) {
    arena_bytes = std::max(arena_bytes, aligned(buffer.offset + buffer.bytes));
  }
  Cell* const shadow = shadow_.reserve(arena_bytes + variable_bytes);
  std::uint64_t sectors = 0;
  for (const cpu::Buffer& buffer : buffers) sectors += sectors_of(buffer);
  std::uint32_t* written = written_.begin_run(sectors);
  std::uint64_t at = kBuffersBegin;
  for (const cpu::Buffer& buffer : buffers) {
    const std::uint64_t sector = buffer.offset / kSectorBytes;
    regions_.push_back({at, at + buffer.bytes, arena_.data() + buffer.offset, shadow + sector,
                        begins_with_values(buffer) ? nullptr : written, buffer.writable,
                        std::max(1u, buffer.element_size), buffer.name});
    written += sectors_of(buffer);
    at = aligned(at + buffer.bytes) + std::max(kGap, aligned(buffer.bytes));
  }
  std::uint64_t offset = 0;
  for (const GlobalVariable& variable : variables_) {
    std::byte* const host = variable_bytes_.data() + offset;
    if (!variable.initial.empty()) std::memcpy(host, variable.initial.data(), variable.bytes);
    regions_.push_back({variable.address, variable.address + variable.bytes, host,
                        shadow + (arena_bytes + offset) / kSectorBytes, nullptr, !variable.constant,
                        1, variable.name});
    offset += aligned(variable.bytes);
  }
}

void LaunchMemory::begin_launch(Program& program, const cpu::Dim3& block,
                                std::vector<std::byte> parameters, std::uint32_t shared_bytes,
                                std::vector<TensorMap> tensor_maps) {
  program_ = &program;
  tensor_maps_ = std::move(tensor_maps);
  block_ = block;
  parameters_ = std::move(parameters);
  shared_bytes_ = shared_bytes;
  shadow_.begin_launch();
  old_values_.begin_launch();
  atomics_.clear();
  hottest_atomic_ = 0;
  critical_ = {};
  path_clocks_ = block_clocks_ = nullptr;
  write_times_.clear();
  span_ = 0;
  for (const auto& function : program.functions) {
    for (const auto& access : function->accesses) {
      access->counts = {};
      access->region = nullptr;
    }
    if (redundant_threads_) continue;  // some of them leave unset what they have no use for
    for (const std::uint32_t line : function->unset_lines)
      note_unset(line, "a variable that not every path sets");
  }
}

cpu::Counters LaunchMemory::end_launch() const {
  cpu::Counters counters;
  for (const auto& function : program_->functions) {
    for (const auto& access : function->accesses) add(*access, &counters);
  }
  counters.hottest_atomic = hottest_atomic_;
  counters.critical = critical_;
  const double span = block_clocks_ != nullptr ? makespan_.end() : span_;
  counters.span_clocks = static_cast<std::uint64_t>(span);
  return counters;
}

UnwrittenElements LaunchMemory::unwritten(std::uint32_t buffer) const {
  const Region& region = regions_[buffer];
  if (region.written == nullptr) return {};
  return find_unwritten(region.written, region.end - region.begin, region.element_bytes);
}

bool LaunchMemory::is_new_encounter(std::uint32_t line) const {
  return encounters_.size() < cpu::kMostEncounters &&
         std::none_of(encounters_.begin(), encounters_.end(),
                      [line](const cpu::Encounter& known) { return known.line == line; });
}

void LaunchMemory::note_unset(std::uint32_t line, const char* what) {
  const auto is_of_line = [line](const cpu::Unset& known) { return known.line == line; };
  if (line == 0 || unset_.size() >= cpu::kMostEncounters ||
      std::any_of(unset_.begin(), unset_.end(), is_of_line)) {
    return;
  }
  unset_.push_back({0, line, what});
}

Region* LaunchMemory::find(std::uint64_t from, std::uint64_t to) {
  for (Region& region : regions_) {
    if (from >= region.begin && to <= region.end && from < to) return &region;
  }
  return nullptr;
}

const Region* LaunchMemory::nearest(std::uint64_t address) const {
  const Region* found = nullptr;
  std::uint64_t distance = kNear;
  for (const Region& region : regions_) {
    const std::uint64_t away = address < region.begin  ? region.begin - address
                               : address >= region.end ? address - region.end
                                                       : 0;
    if (away >= distance) continue;
    found = &region;
    distance = away;
  }
  return found;
}

std::string LaunchMemory::thread_name(std::uint32_t thread) const {
  return "(" + std::to_string(thread % block_[0]) + ", " +
         std::to_string(thread / block_[0] % block_[1]) + ", " +
         std::to_string(thread / block_[0] / block_[1]) + ")";
}

const TensorMap* LaunchMemory::tensor_map_at(std::uint64_t parameter) const {
  const auto found =
      std::find_if(tensor_maps_.begin(), tensor_maps_.end(),
                   [parameter](const TensorMap& map) { return map.parameter() == parameter; });
  return found == tensor_maps_.end() ? nullptr : &*found;
}

void LaunchMemory::print(std::string_view text) {
  printed_ += text.substr(0, kMostPrinted - std::min(kMostPrinted, printed_.size()));
}

}  // namespace krl::machine
