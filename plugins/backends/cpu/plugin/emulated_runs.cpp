#include "plugins/backends/cpu/plugin/emulated_runs.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <kernelrl/values.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "plugins/backends/evaluator/process/subprocess.hpp"

namespace krl {
namespace {

constexpr std::uint64_t kMaxResultBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxArenaBytes = std::uint64_t{2} << 30;

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + emulator::kBufferAlignment - 1) / emulator::kBufferAlignment *
         emulator::kBufferAlignment;
}

emulator::Dim3 narrow(const Dim3& size) {
  return {static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
          static_cast<std::uint32_t>(size[2])};
}

emulator::Role role_of(const ResolvedTensor& tensor) {
  if (!tensor.is_output) return emulator::Role::kInput;
  return tensor.is_input ? emulator::Role::kInOut : emulator::Role::kOutput;
}

emulator::Order order_of(RunOrder order) { return static_cast<emulator::Order>(order); }

std::uint32_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

bool fits_int32(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

EmulatedRuns::EmulatedRuns(const PreparedTask& task, const LaunchSchedule& schedule,
                           std::vector<EmulatedRun> runs, std::uint64_t order_seed)
    : task_(task), schedule_(schedule), runs_(std::move(runs)) {
  job_.kernels = schedule_.kernels;
  job_.seed = order_seed;
  lay_out();
}

// Each run has buffers of its own: tensors in the case's order, then scratch.
void EmulatedRuns::lay_out() {
  std::uint64_t end = 0;
  const auto place = [&](emulator::Run& run, emulator::Buffer buffer) {
    buffer.offset = end;
    // One aligned gap between buffers, so that the end of one is never the start of the next.
    end = aligned(end + buffer.bytes) + emulator::kBufferAlignment;
    run.buffers.push_back(std::move(buffer));
  };
  for (const EmulatedRun& planned : runs_) {
    emulator::Run run;
    run.count = planned.plan.counted;
    run.order = order_of(planned.plan.order);
    for (const ResolvedTensor& tensor : task_.cases[planned.plan.case_index].tensors) {
      place(run,
            {tensor.name, 0, static_cast<std::uint64_t>(tensor.bytes()),
             static_cast<std::uint32_t>(size_of(tensor.dtype)), tensor.is_output, role_of(tensor)});
    }
    for (const ResolvedScratch& scratch : schedule_.programs[planned.plan.case_index].scratch) {
      place(run, {scratch.name, 0, static_cast<std::uint64_t>(scratch.bytes),
                  static_cast<std::uint32_t>(scratch.bytes / scratch.elements), true,
                  emulator::Role::kScratch});
    }
    job_.runs.push_back(std::move(run));
  }
  if (end > kMaxArenaBytes) {
    throw Failure(KRL_INVALID_ARGUMENT,
                  task_.definition.id + ": its cases take " + std::to_string(end >> 20) +
                      " MiB in the emulator, more than " + std::to_string(kMaxArenaBytes >> 20) +
                      "; make them smaller");
  }
  arena_ = SharedMemory(std::max<std::uint64_t>(end, 1), "krl-arena");
}

// Inputs as drawn, everything else poisoned: what a kernel leaves out shows.
void EmulatedRuns::fill() {
  std::memset(arena_.bytes().data(), static_cast<int>(kPoison), arena_.bytes().size());
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const auto& inputs = runs_[r].data->inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::memcpy(arena_.bytes().data() + job_.runs[r].buffers[i].offset, inputs[i].data(),
                  inputs[i].size());
    }
  }
}

emulator::Argument EmulatedRuns::argument_of(const PlannedRun& plan, const LaunchArgument& argument,
                                             std::uint32_t kernel, std::size_t index) const {
  const ResolvedCase& resolved = task_.cases[plan.case_index];
  switch (argument.kind) {
    case LaunchArgument::kTensor:
      return emulator::BufferArgument{static_cast<std::uint32_t>(argument.index)};
    case LaunchArgument::kScratch:
      return emulator::BufferArgument{
          static_cast<std::uint32_t>(resolved.tensors.size() + argument.index)};
    case LaunchArgument::kScalar: {
      const ResolvedScalar& scalar = resolved.scalars[argument.index];
      if (is_floating(scalar.dtype)) return static_cast<float>(scalar.real);
      if (scalar.dtype == DType::kInt64) return scalar.integer;
      return static_cast<std::int32_t>(scalar.integer);
    }
    case LaunchArgument::kInteger:
      break;
  }
  // As wide as the parameter, once that is known; before, as in most kernels.
  const bool known =
      kernel < result_.kernels.size() && index < result_.kernels[kernel].parameters.size();
  const bool wide =
      known ? result_.kernels[kernel].parameters[index].size == 8 : !fits_int32(argument.integer);
  if (wide) return argument.integer;
  return static_cast<std::int32_t>(argument.integer);
}

void EmulatedRuns::write_job(const EmulatorOptions& options) {
  job_.work_limit = options.work_limit;
  job_.max_shared_bytes = options.max_shared_bytes;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const PlannedRun& plan = runs_[r].plan;
    job_.runs[r].launches.clear();
    for (const ResolvedLaunch& launch : schedule_.programs[plan.case_index].launches) {
      emulator::Launch& out = job_.runs[r].launches.emplace_back();
      out.kernel = index_of(schedule_.kernels, launch.kernel);
      out.grid = narrow(launch.grid);
      out.block = narrow(launch.block);
      out.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
      for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        out.arguments.push_back(argument_of(plan, launch.arguments[i], out.kernel, i));
      }
    }
  }
}

// True if the emulator refused an integer argument for its width alone, which we choose.
bool EmulatedRuns::wants_other_widths() const {
  if (!result_.launch_error || result_.launch_error->argument < 0) return false;
  const emulator::LaunchError& error = *result_.launch_error;
  const PlannedRun& plan = runs_[error.run].plan;
  const auto& launch = schedule_.programs[plan.case_index].launches[error.launch];
  const auto index = static_cast<std::size_t>(error.argument);
  if (index >= launch.arguments.size() ||
      launch.arguments[index].kind != LaunchArgument::kInteger) {
    return false;
  }
  const std::uint32_t kernel = index_of(schedule_.kernels, launch.kernel);
  const bool sent_wide = std::holds_alternative<std::int64_t>(
      job_.runs[error.run].launches[error.launch].arguments[index]);
  return kernel < result_.kernels.size() && index < result_.kernels[kernel].parameters.size() &&
         result_.kernels[kernel].parameters[index].kind == emulator::ParameterKind::kInteger &&
         (result_.kernels[kernel].parameters[index].size == 8) != sent_wide;
}

bool EmulatedRuns::execute(const EmulatorOptions& options, std::string_view module,
                           const std::function<bool()>& cancelled) {
  for (int attempt = 0;; ++attempt) {
    fill();
    write_job(options);
    result_ = {};
    if (!start(options, module, cancelled)) return false;
    if (attempt > 0 || !wants_other_widths()) return true;
  }
}

bool EmulatedRuns::start(const EmulatorOptions& options, std::string_view module,
                         const std::function<bool()>& cancelled) {
  const MemoryFile job = MemoryFile::with("krl-job", nlohmann::json(job_).dump());
  const MemoryFile code = MemoryFile::with("krl-module", module);
  SandboxRules rules;
  rules.address_space_bytes = options.memory_bytes + arena_.bytes().size();
  rules.cpu_seconds = static_cast<std::uint32_t>((options.time_limit.count() + 999) / 1000);
  rules.readable = {"/usr/lib", "/lib", "/lib64", "/etc/ld.so.cache"};
  Command command = sandboxed(options.launcher, rules, {{options.program}});
  std::string trouble;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const MemoryFile output = MemoryFile::create("krl-result");
    command.descriptors = {{job.descriptor(), emulator::kJobDescriptor},
                           {arena_.descriptor(), emulator::kArenaDescriptor},
                           {code.descriptor(), emulator::kModuleDescriptor},
                           {output.descriptor(), emulator::kResultDescriptor}};
    Subprocess worker(command);
    const Ending ending = worker.wait(options.time_limit * kWallSlack, cancelled);
    if (ending.cancelled) throw Failure(KRL_CANCELLED, "cancelled");
    if (ending.signal == SIGXCPU || ending.cpu_seconds >= rules.cpu_seconds) {
      why_ = "the kernel ran for more than " + std::to_string(rules.cpu_seconds) + " s";
      return false;
    }
    if (ending.ok()) {
      const auto text = nlohmann::json::parse(output.read(kMaxResultBytes), nullptr, false);
      if (!text.is_discarded()) {
        text.get_to(result_);
        return true;
      }
    }
    trouble = "the emulator " + ending.description();
    ::lseek(job.descriptor(), 0, SEEK_SET);
    fill();
  }
  throw Failure(KRL_UNAVAILABLE, trouble + ", twice");
}

std::span<const std::byte> EmulatedRuns::tensor(std::size_t run, std::size_t index) const {
  const emulator::Buffer& buffer = job_.runs[run].buffers[index];
  return std::span<const std::byte>(arena_.bytes()).subspan(buffer.offset, buffer.bytes);
}

}  // namespace krl
