#include "plugins/backends/emulate/runs.hpp"

#include <algorithm>
#include <cstring>
#include <kernelrl/values.hpp>

#include "plugins/backends/cpu/garbage.hpp"
#include "plugins/backends/cpu/plugin/assembled_kernels.hpp"
#include "plugins/backends/cpu/plugin/result_checks.hpp"

namespace krl::emulate {
using namespace cpu;
using namespace evaluator;
namespace {

constexpr std::size_t kMostHeldLines = 8;

class Runner {
 public:
  Runner(const PreparedTask& task, const Built& built, const std::vector<Buffer>& buffers,
         const TimeEstimate& time, const RunSettings& settings)
      : task_(task), built_(built), buffers_(buffers), settings_(settings) {
    lay_out();
    const AssembledKernels kernels = assembled_kernels(built.compiled->kernels);
    for (const ResolvedLaunch& launch : built.schedule.programs.front().launches) {
      Launch& added = launches_.emplace_back(shape_of(launch, built.schedule.kernels));
      for (const LaunchArgument& argument : launch.arguments)
        added.arguments.push_back(argument_of(argument));
      added.resident_blocks = time.resident_blocks(added, kernels.at(added.kernel));
    }
  }

  Runs run() {
    execute(Order::kForward, 0);
    if (settings_.once) return std::move(runs_);
    for (const Order order : {Order::kReversed, Order::kShuffled}) execute(order, 0);
    const std::vector<Encounter> met = runs_.encounters;
    if (met.empty()) return std::move(runs_);
    execute(Order::kLockstep, 0);
    for (std::size_t m = 0; m < std::min(met.size(), kMostHeldLines); ++m)
      execute(Order::kDrawn, met[m].line);
    return std::move(runs_);
  }

 private:
  void lay_out() {
    std::uint64_t end = 0;
    const auto place = [&](std::string name, std::uint64_t bytes, std::uint32_t element,
                           Role role) {
      run_.buffers.push_back({std::move(name), end, bytes, element, true, role});
      end += place_of(bytes);
    };
    for (const Buffer& buffer : buffers_) {
      place(buffer.name, buffer.bytes(), buffer.contents.type->bytes,
            buffer.is_set() ? Role::kInOut : Role::kOutput);
    }
    // The file's own scratch comes behind the buffers of the call, whose directives are first.
    const auto& scratch = built_.schedule.programs.front().scratch;
    for (std::size_t s = buffers_.size(); s < scratch.size(); ++s) {
      place(scratch[s].name, static_cast<std::uint64_t>(scratch[s].bytes),
            static_cast<std::uint32_t>(scratch[s].bytes / scratch[s].elements), Role::kScratch);
    }
    run_.redundant_threads = built_.schedule.redundant_threads;
    arena_ = SharedMemory(std::max<std::uint64_t>(end, 1), "krl-arena");
  }

  Argument argument_of(const LaunchArgument& argument) const {
    if (argument.kind == LaunchArgument::kScratch)
      return BufferArgument{static_cast<std::uint32_t>(argument.index)};
    if (argument.kind == LaunchArgument::kTensorMap) {
      const auto& map = built_.schedule.programs.front().tensor_maps[argument.index];
      return tensor_map_of(map, static_cast<std::uint32_t>(map.buffer.index));
    }
    if (argument.kind != LaunchArgument::kScalar) return argument.integer;
    const ResolvedScalar& scalar = task_.cases.front().scalars[argument.index];
    if (is_floating(scalar.dtype)) return scalar.real;
    return scalar.integer;
  }

  // Bytes that no run writes are the same in all.
  void fill() {
    Garbage(settings_.seed).fill(arena_.bytes());
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const auto& bytes = buffers_[b].contents.bytes;
      std::copy(bytes.begin(), bytes.end(), memory_of(b).begin());
    }
  }

  std::span<std::byte> memory_of(std::size_t buffer) {
    const cpu::Buffer& at = run_.buffers[buffer];
    return arena_.bytes().subspan(at.offset, at.bytes);
  }

  void execute(Order order, std::uint32_t held_line) {
    if (!runs_.ended()) return;
    Job job;
    job.kernels = built_.module().names;
    job.seed = settings_.seed + executed_++;
    job.work_limit = settings_.machine.work_limit;
    job.max_shared_bytes = settings_.machine.max_shared_bytes;
    job.path_clocks = settings_.machine.path_clocks;
    Run& run = job.runs.emplace_back(run_);
    run.launches = launches_;
    run.order = order;
    run.held_line = held_line;
    run.count = order == Order::kForward;
    run.garbage = job.seed;
    JobOutcome outcome =
        execute_job(settings_.machine, job, built_.module().ptx, arena_, [&] { fill(); }, {});
    runs_.order = name_of(order);
    if (!outcome.result) {
      runs_.stopped = std::move(outcome.why);
      return;
    }
    name_for_people(job.kernels, built_.schedule.kernels, &*outcome.result);
    take(order, *std::move(outcome.result));
  }

  void take(Order order, Result result) {
    runs_.fault = result.fault;
    runs_.launch_error = result.launch_error;
    if (order == Order::kForward) runs_.first = std::move(result);
    if (!runs_.ended()) return;
    if (std::find(runs_.orders.begin(), runs_.orders.end(), runs_.order) == runs_.orders.end())
      runs_.orders.push_back(runs_.order);
    if (order == Order::kForward) {
      for (std::size_t b = 0; b < buffers_.size(); ++b) {
        const auto memory = memory_of(b);
        runs_.contents.emplace_back(memory.begin(), memory.end());
      }
    } else if (!runs_.difference) {
      compare(order);
    }
    const Result& from = order == Order::kForward ? runs_.first : result;
    for (const Encounter& met : from.encounters) {
      const auto known = [&](const Encounter& other) { return other.line == met.line; };
      if (std::none_of(runs_.encounters.begin(), runs_.encounters.end(), known))
        runs_.encounters.push_back(met);
    }
  }

  void compare(Order order) {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const ElementType& type = *buffers_[b].contents.type;
      const auto now = memory_of(b);
      const std::vector<std::byte>& before = runs_.contents[b];
      Difference found{b, 0, 0, {}, order};
      for (std::int64_t i = 0; i < buffers_[b].elements; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * type.bytes;
        if (std::memcmp(now.data() + at, before.data() + at, type.bytes) == 0) continue;
        if (found.count++ > 0) continue;
        found.first = i;
        found.values = text_of(type, before.data() + at) + " and " + text_of(type, now.data() + at);
      }
      if (found.count == 0) continue;
      runs_.difference = std::move(found);
      return;
    }
  }

  const PreparedTask& task_;
  const Built& built_;
  const std::vector<Buffer>& buffers_;
  const RunSettings& settings_;
  std::vector<Launch> launches_;
  Run run_;  // its buffers
  SharedMemory arena_;
  std::uint64_t executed_ = 0;
  Runs runs_;
};

}  // namespace

std::string_view name_of(Order order) {
  constexpr std::string_view kNames[] = {"blocks in order", "blocks reversed", "blocks shuffled",
                                         "blocks side by side, in lockstep",
                                         "blocks side by side, some warps stalled"};
  return kNames[static_cast<std::size_t>(order)];
}

Runs run_kernels(const PreparedTask& task, const Built& built, const std::vector<Buffer>& buffers,
                 const TimeEstimate& time, const RunSettings& settings) {
  return Runner(task, built, buffers, time, settings).run();
}

}  // namespace krl::emulate
