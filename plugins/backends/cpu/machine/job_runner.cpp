#include "plugins/backends/cpu/machine/job_runner.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "plugins/backends/cpu/machine/decode/decoder.hpp"
#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/launch.hpp"
#include "plugins/backends/cpu/machine/launch_counters.hpp"
#include "plugins/backends/cpu/machine/memory/launch_memory.hpp"
#include "plugins/backends/evaluator/compile/source_file.hpp"
#include "plugins/backends/ptx/reader.hpp"

namespace krl::machine {
using namespace evaluator;
namespace {

using namespace cpu;

constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
constexpr Dim3 kMaxBlock = {1024, 1024, 64};
constexpr Dim3 kMaxGrid = {2147483647, 65535, 65535};

std::uint64_t count_of(const Dim3& d) { return std::uint64_t{d[0]} * d[1] * d[2]; }

std::string extents(const Dim3& d) {
  return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

enum class ParameterKind { kPointer, kInteger, kFloating, kBytes };

ParameterKind kind_of(const EntryParameter& parameter) {
  const bool floating = parameter.type == ptx::Type::kF32 || parameter.type == ptx::Type::kF64;
  // A structure, or a __grid_constant__ of any type, takes any argument of its size.
  if (parameter.bytes != ptx::size_of(parameter.type)) return ParameterKind::kBytes;
  if (floating) return ParameterKind::kFloating;
  return parameter.pointer ? ParameterKind::kPointer : ParameterKind::kInteger;
}

KernelFacts facts_of(const Program& program) {
  KernelFacts facts;
  facts.name = program.entry->name;
  facts.shared_bytes = program.shared_bytes;
  facts.max_threads_per_block = static_cast<std::uint32_t>(count_of(program.entry->max_threads));
  return facts;
}

// Writes `argument` to a parameter; an empty message if it fits. Integers adapt to the parameter's
// width, as they would in a launch in C++.
std::string bind_argument(const Argument& argument, const EntryParameter& parameter,
                          const LaunchMemory& memory, std::size_t buffers, std::byte* to) {
  const ParameterKind kind = kind_of(parameter);
  if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
    if (kind == ParameterKind::kFloating || parameter.bytes != sizeof(std::uint64_t)) {
      return "is a tensor, but the kernel's parameter is not a pointer";
    }
    if (buffer->buffer >= buffers) return "names a buffer that the run does not have";
    const std::uint64_t address = memory.address_of(buffer->buffer);
    std::memcpy(to, &address, sizeof address);
    return {};
  }
  if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
    if (map->buffer >= buffers) return "names a buffer that the run does not have";
    if (parameter.bytes == kTensorMapBytes) return {};
    return "is a tensor map, but the kernel's parameter is no CUtensorMap";
  }
  if (const auto* value = std::get_if<float>(&argument)) {
    const bool takes_float = kind == ParameterKind::kFloating || kind == ParameterKind::kBytes;
    if (!takes_float || parameter.bytes != sizeof(float)) {
      return "is a float, but the kernel's parameter is not";
    }
    std::memcpy(to, value, sizeof(float));
    return {};
  }
  if (const auto* value = std::get_if<double>(&argument)) {
    if (kind != ParameterKind::kFloating)
      return "is a real number, but the kernel's parameter is not";
    const auto narrow = static_cast<float>(*value);
    if (parameter.bytes == sizeof narrow) std::memcpy(to, &narrow, sizeof narrow);
    if (parameter.bytes == sizeof *value) std::memcpy(to, value, sizeof *value);
    return {};
  }
  const bool sized =
      parameter.bytes == sizeof(std::int32_t) || parameter.bytes == sizeof(std::int64_t);
  const auto* narrow = std::get_if<std::int32_t>(&argument);
  const std::int64_t value = narrow != nullptr ? *narrow : std::get<std::int64_t>(argument);
  const bool null = kind == ParameterKind::kPointer && value == 0;
  const bool takes_integer =
      kind == ParameterKind::kInteger || (kind == ParameterKind::kBytes && sized) || null;
  if (!takes_integer) return "is an integer, but the kernel's parameter is not";
  const unsigned bits = parameter.bytes * 8;
  if (bits < 64 && (value >= std::int64_t{1} << bits || value < -(std::int64_t{1} << (bits - 1)))) {
    return "is " + std::to_string(value) + ", which does not fit the kernel's parameter of " +
           std::to_string(parameter.bytes) + " bytes";
  }
  std::memcpy(to, &value, parameter.bytes);
  return {};
}

class JobRunner {
 public:
  JobRunner(const Job& job, std::span<std::byte> arena) : job_(job), arena_(arena) {}

  Result run(std::string_view ptx) {
    if (!load(ptx)) return std::move(result_);
    memory_ = std::make_unique<LaunchMemory>(module_.variables, arena_);
    grid_ = std::make_unique<GridRunner>(*memory_);
    for (run_ = 0; run_ < job_.runs.size() && !result_.fault; ++run_) {
      if (!check_buffers(job_.runs[run_])) break;
      memory_->begin_run(job_.runs[run_]);
      if (!check_launches(job_.runs[run_])) break;
      execute(job_.runs[run_]);
    }
    return std::move(result_);
  }

 private:
  bool load(std::string_view text) {
    const ptx::ReadResult read = ptx::read_module(text, kSourceFile);
    if (read.problem) {
      unsupported(read.problem->message, read.problem->place.source);
      return false;
    }
    try {
      module_ = decode(read.module, job_.kernels, grain());
      if (needs_times()) module_ = decode(read.module, job_.kernels, Grain::kStrongAccess);
    } catch (const Unsupported& problem) {
      unsupported(problem.name, problem.line);
      return false;
    }
    for (const auto& program : module_.programs) result_.kernels.push_back(facts_of(*program));
    return true;
  }

  Grain grain() const {
    const auto side_by_side = [](const Run& run) { return runs_side_by_side(run.order); };
    return std::any_of(job_.runs.begin(), job_.runs.end(), side_by_side) ? Grain::kAccess
                                                                         : Grain::kControlFlow;
  }

  // True if warps of a counted run may wait for each other.
  bool needs_times() const {
    const auto hands_over = [](const auto& program) { return program->warps_hand_over; };
    return grain() == Grain::kControlFlow &&
           std::any_of(job_.runs.begin(), job_.runs.end(), [](const Run& r) { return r.count; }) &&
           std::any_of(module_.programs.begin(), module_.programs.end(), hands_over);
  }

  void unsupported(const std::string& what, std::uint32_t line) {
    result_.fault.emplace();
    result_.fault->kind = FaultKind::kUnsupported;
    result_.fault->message = what;
    result_.fault->line = line;
  }

  bool refuse(std::uint32_t launch, std::int32_t argument, std::string message) {
    result_.launch_error = {static_cast<std::uint32_t>(run_), launch, argument, std::move(message)};
    return false;
  }

  bool check_buffers(const Run& run) {
    for (const Buffer& buffer : run.buffers) {
      if (buffer.offset % kBufferAlignment != 0 || buffer.offset > arena_.size() ||
          buffer.bytes > arena_.size() - buffer.offset || buffer.element_size == 0) {
        return refuse(
            0, -1,
            "buffer " + buffer.name + " does not lie in the arena at a multiple of 256 bytes");
      }
    }
    return true;
  }

  bool check_launches(const Run& run) {
    for (std::uint32_t i = 0; i < run.launches.size(); ++i) {
      if (!check_shape(run.launches[i], i) || !bind_arguments(run, i, nullptr)) return false;
    }
    return true;
  }

  bool check_axes(const Dim3& size, const Dim3& most, const char* what, std::uint32_t index) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (size[d] != 0 && size[d] <= most[d]) continue;
      return refuse(index, -1,
                    std::string(what) + "." + "xyz"[d] + " is " + std::to_string(size[d]) +
                        ", allowed are 1 to " + std::to_string(most[d]));
    }
    return true;
  }

  bool check_shape(const Launch& launch, std::uint32_t index) {
    if (launch.kernel >= module_.programs.size())
      return refuse(index, -1, "there is no such kernel");
    if (!check_axes(launch.grid, kMaxGrid, "grid", index) ||
        !check_axes(launch.block, kMaxBlock, "block", index)) {
      return false;
    }
    const KernelFacts& kernel = result_.kernels[launch.kernel];
    const std::uint64_t threads = count_of(launch.block);
    if (threads > kMaxThreadsPerBlock) {
      return refuse(index, -1, "a block of " + std::to_string(threads) + " threads; at most 1024");
    }
    if (kernel.max_threads_per_block != 0 && threads > kernel.max_threads_per_block) {
      return refuse(index, -1,
                    "a block of " + std::to_string(threads) +
                        " threads, but the kernel has __launch_bounds__(" +
                        std::to_string(kernel.max_threads_per_block) + ")");
    }
    if (!check_cluster(launch, index)) return false;
    const std::uint64_t shared = shared_bytes(launch);
    if (shared > job_.max_shared_bytes) {
      return refuse(index, -1,
                    "a block needs " + std::to_string(shared) +
                        " bytes of shared memory; it may have " +
                        std::to_string(job_.max_shared_bytes));
    }
    return true;
  }

  bool check_cluster(const Launch& launch, std::uint32_t index) {
    const Dim3& cluster = module_.programs[launch.kernel]->cluster;
    const std::uint64_t most = kMostRanks;
    const bool fits = std::all_of(cluster.begin(), cluster.end(),
                                  [=](std::uint32_t d) { return d > 0 && d <= most; }) &&
                      count_of(cluster) <= most;
    if (!fits) {
      return refuse(index, -1,
                    "a cluster of " + extents(cluster) + " blocks; at most " +
                        std::to_string(most) + " in all");
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (launch.grid[d] % cluster[d] == 0) continue;
      return refuse(index, -1,
                    "a grid of " + extents(launch.grid) +
                        " blocks cannot be divided into clusters of " + extents(cluster));
    }
    return true;
  }

  std::uint64_t shared_bytes(const Launch& launch) const {
    const Program& program = *module_.programs[launch.kernel];
    if (launch.dynamic_shared_bytes == 0) return program.shared_bytes;
    return std::uint64_t{program.dynamic_shared} + launch.dynamic_shared_bytes;
  }

  bool bind_arguments(const Run& run, std::uint32_t index, std::vector<std::byte>* bytes) {
    const Launch& launch = run.launches[index];
    const Function& entry = *module_.programs[launch.kernel]->entry;
    if (launch.arguments.size() != entry.entry_parameters.size()) {
      return refuse(index, -1,
                    "the kernel takes " + std::to_string(entry.entry_parameters.size()) +
                        " arguments, the launch has " + std::to_string(launch.arguments.size()));
    }
    std::vector<std::byte> block(entry.parameter_bytes);
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
      const EntryParameter& parameter = entry.entry_parameters[a];
      const auto why = bind_argument(launch.arguments[a], parameter, *memory_, run.buffers.size(),
                                     block.data() + parameter.offset);
      if (why.empty()) continue;
      return refuse(index, static_cast<std::int32_t>(a),
                    "argument " + std::to_string(a + 1) + " " + why);
    }
    if (bytes != nullptr) *bytes = std::move(block);
    return true;
  }

  std::vector<TensorMap> tensor_maps(const Launch& launch) const {
    const Function& entry = *module_.programs[launch.kernel]->entry;
    std::vector<TensorMap> maps;
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
      if (const auto* map = std::get_if<TensorMapArgument>(&launch.arguments[a])) {
        maps.emplace_back(*map, entry.entry_parameters[a].offset, memory_->address_of(map->buffer));
      }
    }
    return maps;
  }

  void execute(const Run& run) {
    std::vector<LaunchReport> reports;
    work_left_ = job_.work_limit;
    for (std::uint32_t i = 0; i < run.launches.size() && !result_.fault; ++i)
      reports.push_back(execute(run, i));
    result_.printed += memory_->printed();
    if (result_.fault) return;
    result_.runs.push_back(std::move(reports));
    for (std::uint32_t b = 0; b < run.buffers.size(); ++b) {
      if (run.buffers[b].role == Role::kOutput) add_unwritten(b);
    }
    for (Encounter encounter : memory_->encounters()) {
      encounter.run = static_cast<std::uint32_t>(run_);
      result_.encounters.push_back(std::move(encounter));
    }
    for (Unset unset : memory_->unset()) {
      unset.run = static_cast<std::uint32_t>(run_);
      result_.unset.push_back(std::move(unset));
    }
  }

  void add_unwritten(std::uint32_t buffer) {
    const UnwrittenElements found = memory_->unwritten(buffer);
    if (found.count == 0) return;
    result_.unwritten.push_back(
        {static_cast<std::uint32_t>(run_), buffer, found.first, found.count});
  }

  LaunchReport execute(const Run& run, std::uint32_t index) {
    const Launch& launch = run.launches[index];
    Program& program = *module_.programs[launch.kernel];
    LaunchReport report;
    report.grid = launch.grid;
    report.block = launch.block;
    report.kernel = launch.kernel;
    report.shared_bytes = static_cast<std::uint32_t>(shared_bytes(launch));
    std::vector<std::byte> parameters;
    bind_arguments(run, index, &parameters);
    clear_counters(program);
    memory_->begin_launch(program, launch.block, std::move(parameters), report.shared_bytes,
                          tensor_maps(launch));
    const bool timed = run.count && !runs_side_by_side(run.order) && program.warps_hand_over;
    if (timed) memory_->keep_time(job_.path_clocks);
    if (run.count && !program.blocks_hand_over && launch.resident_blocks > 0) {
      memory_->schedule_blocks(job_.path_clocks, launch.resident_blocks);
    }
    const LaunchOutcome outcome = grid_->run(
        program, {launch.grid, launch.block, launch.dynamic_shared_bytes, run.order,
                  job_.seed + (std::uint64_t{run_} << 32), work_left_, launch.resident_blocks});
    work_left_ -= std::min(work_left_, outcome.work);
    result_.work += outcome.work;
    report.counters = memory_->end_launch();
    if (outcome.fault) {
      result_.fault = outcome.fault;
      result_.fault->run = static_cast<std::uint32_t>(run_);
      result_.fault->launch = index;
      result_.fault->kernel = program.entry->name;
    } else if (run.count) {
      add_counters(program, launch, &report.counters);
    } else {
      report.counters = {};
    }
    return report;
  }

  const Job& job_;
  std::span<std::byte> arena_;
  Result result_;
  std::size_t run_ = 0;
  std::uint64_t work_left_ = 0;
  DecodedModule module_;
  std::unique_ptr<LaunchMemory> memory_;
  std::unique_ptr<GridRunner> grid_;
};

}  // namespace

Result run_job(const Job& job, std::string_view ptx, std::span<std::byte> arena) {
  return JobRunner(job, arena).run(ptx);
}

}  // namespace krl::machine
