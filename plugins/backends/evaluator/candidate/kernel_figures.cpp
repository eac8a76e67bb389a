#include "plugins/backends/evaluator/candidate/kernel_figures.hpp"

#include <algorithm>
#include <kernelrl/tensor_types.hpp>
#include <string_view>

#include "plugins/backends/compiled/occupancy.hpp"

namespace krl::evaluator {
using namespace compiled;
namespace {

// Blocks of a cluster on every GPU that has clusters; more need an attribute of the launch.
constexpr std::int64_t kMostClusterBlocks = 8;

std::int64_t product(const Dim3& extent) {
  return static_cast<std::int64_t>(extent[0]) * extent[1] * extent[2];
}

// "128 x 1 x 1".
std::string extents(const Dim3& extent) {
  return std::to_string(extent[0]) + " x " + std::to_string(extent[1]) + " x " +
         std::to_string(extent[2]);
}

std::int64_t threads_of(const ResolvedLaunch& launch) { return product(launch.block); }

// Returns the dtype that a pointer's elements look like: "int32" for "int const*"; empty if the type
// says nothing of them, such as float4.
std::string_view dtype_of(std::string type) {
  for (const std::string_view word : {"const", "volatile", "__restrict", "*", " "}) {
    for (auto at = type.find(word); at != std::string::npos; at = type.find(word))
      type.erase(at, word.size());
  }
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"float", "float32"},          {"double", "float64"}, {"__half", "float16"},
      {"__nv_bfloat16", "bfloat16"}, {"int", "int32"},      {"long", "int64"},
      {"longlong", "int64"}};
  for (const auto& [name, dtype] : kTypes) {
    if (name == type) return dtype;
  }
  return {};
}

std::string argument_text(const ResolvedLaunch& launch, std::size_t index) {
  return "argument " + std::to_string(index + 1) + " of " + launch.kernel;
}

void note_types(const ResolvedLaunch& launch, const std::vector<std::string>& types,
                const ResolvedCase& resolved_case, EvaluationRecord* record) {
  for (std::size_t i = 0; i < std::min(types.size(), launch.arguments.size()); ++i) {
    const LaunchArgument& argument = launch.arguments[i];
    if (argument.kind != LaunchArgument::kTensor) continue;
    const ResolvedTensor& tensor = resolved_case.tensors[argument.index];
    const std::string_view seen = dtype_of(types[i]), meant = name_of(tensor.dtype);
    if (seen.empty() || seen == meant) continue;
    record->diagnostics.push_back({KRL_SEVERITY_NOTE, static_cast<std::uint32_t>(launch.line), 0,
                                   "",
                                   argument_text(launch, i) + ", " + tensor.name + ", is " +
                                       std::string(meant) + ", but its parameter is " + types[i]});
  }
}

// True if a parameter of so many bytes can take the argument.
bool fits(const LaunchArgument& argument, std::uint32_t bytes, const ResolvedCase& resolved_case) {
  if (argument.kind == LaunchArgument::kInteger) return bytes == 4 || bytes == 8;
  if (argument.kind == LaunchArgument::kTensorMap) return bytes == ResolvedTensorMap::kBytes;
  if (argument.kind != LaunchArgument::kScalar) return bytes == sizeof(void*);
  const DType dtype = resolved_case.scalars[argument.index].dtype;
  return bytes == static_cast<std::uint32_t>(size_of(dtype));
}

// Explains why a grid cannot be divided into the clusters of a kernel; empty if it can.
std::string obstacle_of_cluster(const ResolvedLaunch& launch, const Dim3& cluster) {
  const auto fits = [](std::int64_t blocks) { return blocks > 0 && blocks <= kMostClusterBlocks; };
  if (!std::ranges::all_of(cluster, fits) || !fits(product(cluster))) {
    return launch.kernel + " has clusters of " + extents(cluster) + " blocks, but a GPU takes " +
           std::to_string(kMostClusterBlocks) + " in all";
  }
  for (std::size_t d = 0; d < cluster.size(); ++d) {
    if (launch.grid[d] % cluster[d] == 0) continue;
    return "a grid of " + extents(launch.grid) + " blocks cannot be divided into the clusters of " +
           extents(cluster) + " that " + launch.kernel + " has";
  }
  return {};
}

// Explains why the launch is impossible, as far as that is known without launching; empty if it
// seems possible.
std::string obstacle(const ResolvedLaunch& launch, const CompiledKernel& compiled,
                     const ResolvedCase& resolved_case) {
  const CubinKernel& kernel = compiled.code;
  if (launch.arguments.size() != kernel.parameters.size()) {
    return launch.kernel + " takes " + std::to_string(kernel.parameters.size()) +
           " arguments, not " + std::to_string(launch.arguments.size());
  }
  const std::vector<std::string>& types = compiled.parameter_types;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const LaunchArgument::Kind kind = launch.arguments[i].kind;
    const bool is_buffer = kind == LaunchArgument::kTensor || kind == LaunchArgument::kScratch;
    const bool known = types.size() == launch.arguments.size();
    if (known && is_buffer != (types[i].find('*') != std::string::npos)) {
      return argument_text(launch, i) + " is " + (is_buffer ? "a buffer" : "a number") +
             ", but its parameter is " + types[i];
    }
    if (fits(launch.arguments[i], kernel.parameters[i].bytes, resolved_case)) continue;
    return argument_text(launch, i) + " does not fit its parameter of " +
           std::to_string(kernel.parameters[i].bytes) + " bytes";
  }
  if (kernel.block[0] != 0 && launch.block != kernel.block) {
    return "a block of " + extents(launch.block) + " threads, but " + launch.kernel +
           " has .reqntid " + extents(kernel.block);
  }
  if (kernel.max_threads >= 0 && threads_of(launch) > kernel.max_threads) {
    return "a block of " + std::to_string(threads_of(launch)) + " threads, but " + launch.kernel +
           " has __launch_bounds__(" + std::to_string(kernel.max_threads) + "), in PTX .maxntid";
  }
  return kernel.cluster[0] == 0 ? "" : obstacle_of_cluster(launch, kernel.cluster);
}

// Everything that launches a kernel.
struct Launched {
  std::span<const ResolvedCase> cases;
  const LaunchSchedule& schedule;
  const Target& target;
};

// The kernel's figures, its occupancy in the launch that fills a multiprocessor least.
void add_kernel(const std::string& name, const CompiledKernel& kernel, const Launched& launched,
                EvaluationRecord* record) {
  Kernel figures;
  figures.name = name;
  figures.arch = launched.target.arch;
  figures.registers = kernel.code.registers;
  figures.stack_bytes = kernel.code.stack_bytes;
  figures.spill_bytes = kernel.resources.spill_bytes;
  figures.max_threads = kernel.code.max_threads;
  std::int64_t most_shared = 0;
  bool runs = false;
  for (std::size_t c = 0; c < launched.schedule.programs.size(); ++c) {
    for (const ResolvedLaunch& launch : launched.schedule.programs[c].launches) {
      if (launch.kernel != name) continue;
      runs = true;
      std::string why = obstacle(launch, kernel, launched.cases[c]);
      const std::int64_t fixed = std::max(0, kernel.resources.shared_bytes);
      const Occupancy occupancy = theoretical_occupancy(
          launched.target.gpu, {threads_of(launch), kernel.code.registers, fixed,
                                launch.shared_bytes, kernel.resources.barriers});
      if (why.empty() && occupancy.blocks_per_sm == 0) {
        why = "a block needs more " + occupancy.limiter + " than a multiprocessor of " +
              launched.target.arch + " has";
      }
      if (!why.empty()) {
        record->fail(Verdict::kLaunchError, described({launch.line, launch.column, why}));
        return;
      }
      most_shared = std::max(most_shared, fixed + launch.shared_bytes);
      if (figures.occupancy <= occupancy.fraction) continue;
      figures.occupancy = occupancy.fraction;
      figures.blocks_per_sm = occupancy.blocks_per_sm;
      figures.occupancy_limiter = occupancy.limiter;
    }
  }
  if (!runs) return;  // it is for other shapes
  figures.shared_bytes = static_cast<std::int32_t>(most_shared);
  record->kernels.push_back(std::move(figures));
}

}  // namespace

LaunchLimits Target::launch_limits() const {
  LaunchLimits limits;
  limits.shared_bytes = gpu.shared_per_block;
  return limits;
}

void add_kernel_figures(std::span<const ResolvedCase> cases, const LaunchSchedule& schedule,
                        const std::vector<CompiledKernel>& kernels, const Target& target,
                        EvaluationRecord* record) {
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    if (kernels[k].code.name.empty()) {
      record->fail(
          Verdict::kLaunchError,
          schedule.kernels[k] + " is not a kernel: a __global__ function, or an .entry of PTX");
      return;
    }
    add_kernel(schedule.kernels[k], kernels[k], {cases, schedule, target}, record);
  }
}

void add_launch_values(const LaunchSchedule& schedule, const std::vector<CompiledKernel>& kernels,
                       EvaluationRecord* record) {
  for (std::size_t c = 0; c < schedule.programs.size(); ++c) {
    std::int64_t blocks = 0, threads = 0, most_shared = 0;
    for (const ResolvedLaunch& launch : schedule.programs[c].launches) {
      const auto k = std::ranges::find(schedule.kernels, launch.kernel) - schedule.kernels.begin();
      const std::int64_t grid = product(launch.grid);
      blocks += grid;
      threads += grid * threads_of(launch);
      const std::int64_t fixed =
          std::max(0, kernels[static_cast<std::size_t>(k)].resources.shared_bytes);
      most_shared = std::max(most_shared, fixed + launch.shared_bytes);
    }
    const auto add = [&](const char* name, const char* unit, auto value) {
      record->values.push_back(
          {static_cast<std::int32_t>(c), name, unit, static_cast<double>(value)});
    };
    add("launches", "", schedule.programs[c].launches.size());
    add("blocks", "", blocks);
    add("threads", "", threads);
    add("shared_bytes", "B", most_shared);
  }
}

void note_parameter_types(std::span<const ResolvedCase> cases, const LaunchSchedule& schedule,
                          const std::vector<CompiledKernel>& kernels, EvaluationRecord* record) {
  if (schedule.programs.empty()) return;
  for (std::size_t k = 0; k < record->kernels.size(); ++k) {
    for (const ResolvedLaunch& launch : schedule.programs.front().launches) {
      if (launch.kernel == schedule.kernels[k])
        note_types(launch, kernels[k].parameter_types, cases.front(), record);
    }
  }
}

}  // namespace krl::evaluator
