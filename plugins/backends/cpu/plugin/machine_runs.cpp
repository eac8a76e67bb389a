#include "plugins/backends/cpu/plugin/machine_runs.hpp"

#include <algorithm>
#include <cstring>
#include <kernelrl/values.hpp>

#include "plugins/backends/cpu/garbage.hpp"
#include "plugins/backends/cpu/plugin/result_checks.hpp"
#include "plugins/backends/evaluator/task_origin.hpp"

namespace krl::cpu {
using namespace evaluator;
namespace {

Role role_of(const ResolvedTensor& tensor) {
  if (!tensor.is_output) return Role::kInput;
  return tensor.is_input ? Role::kInOut : Role::kOutput;
}

Order order_of(RunOrder order) { return static_cast<Order>(order); }

std::uint64_t tensor_bytes(const ResolvedCase& resolved) {
  std::uint64_t bytes = 0;
  for (const ResolvedTensor& tensor : resolved.tensors) {
    bytes += place_of(static_cast<std::uint64_t>(tensor.bytes()));
  }
  return bytes;
}

std::uint64_t tensor_bytes(const PreparedTask& task, const std::vector<PlannedRun>& runs) {
  std::uint64_t bytes = 0;
  for (const PlannedRun& run : runs) bytes += tensor_bytes(task.cases[run.case_index]);
  return bytes;
}

std::size_t largest_case(const PreparedTask& task, const std::vector<PlannedRun>& runs) {
  const auto bytes = [&](const PlannedRun& run) {
    return tensor_bytes(task.cases[run.case_index]);
  };
  return std::ranges::max_element(runs, {}, bytes)->case_index;
}

std::string too_much(std::uint64_t bytes) {
  return " take " + std::to_string(bytes >> 20) + " MiB; the limit is " +
         std::to_string(kMaxArenaBytes >> 20) + " MiB; make ";
}

std::uint64_t scratch_bytes(const std::vector<ResolvedScratch>& buffers) {
  std::uint64_t bytes = 0;
  for (const ResolvedScratch& scratch : buffers)
    bytes += place_of(static_cast<std::uint64_t>(scratch.bytes));
  return bytes;
}

// A run without its buffers yet.
Run run_of(const MachineRun& planned, bool redundant_threads, std::uint64_t garbage) {
  Run run;
  run.count = planned.plan.counted;
  run.order = order_of(planned.plan.order);
  run.held_line = planned.plan.held_line;
  run.redundant_threads = redundant_threads;
  run.garbage = garbage;
  return run;
}

}  // namespace

bool has_room(const PreparedTask& task, const std::vector<PlannedRun>& runs) {
  return tensor_bytes(task, runs) <= kMaxArenaBytes;
}

void require_room(const PreparedTask& task, const std::vector<PlannedRun>& runs) {
  if (has_room(task, runs)) return;
  std::vector<PlannedRun> known = runs;
  std::erase_if(known, [&](const PlannedRun& run) { return run.case_index >= task.n_known(); });
  if (has_room(task, known)) {  // and the others have not
    invalid_argument(origin_of(task.definition, "ranges") +
                     ": the pool of shapes that the ranges give and the cases" +
                     too_much(tensor_bytes(task, runs)) + "the largest case smaller");
  }
  invalid_argument(origin_of(task, largest_case(task, known)) + ": the cases of an evaluation" +
                   too_much(tensor_bytes(task, known)) + "this one, the largest, smaller");
}

MachineRuns::MachineRuns(const PreparedTask& task, const LaunchSchedule& schedule,
                         std::vector<MachineRun> runs, std::uint64_t order_seed)
    : task_(task), schedule_(schedule), runs_(std::move(runs)) {
  batches_.emplace_back().job.seed = order_seed;
  lay_out();
}

// Each run has separate buffers: tensors in the case's order, then scratch.
void MachineRuns::lay_out() {
  std::uint64_t end = 0, arena = 1;
  const auto place = [&](Run& run, Buffer buffer) {
    buffer.offset = end;
    end += place_of(buffer.bytes);
    run.buffers.push_back(std::move(buffer));
  };
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const MachineRun& planned = runs_[r];
    const auto& scratch_buffers = schedule_.programs[planned.plan.case_index].scratch;
    const std::uint64_t bytes =
        tensor_bytes(task_.cases[planned.plan.case_index]) + scratch_bytes(scratch_buffers);
    if (bytes > kMaxArenaBytes) {  // the tensors alone fit: require_room has looked
      fail(Verdict::kResourceLimit, "the scratch buffers and the tensors of a run take " +
                                        std::to_string(bytes >> 20) + " MiB; the limit is " +
                                        std::to_string(kMaxArenaBytes >> 20) + " MiB");
      return;
    }
    if (end + bytes > kMaxArenaBytes) {
      const std::uint64_t seed = batches_.front().job.seed;
      batches_.push_back({r, {}});
      batches_.back().job.seed = seed + (std::uint64_t{r} << 32);  // the same seeds as in one job
      end = 0;
    }
    Run run = run_of(planned, schedule_.redundant_threads, batches_.front().job.seed + r);
    for (const ResolvedTensor& tensor : task_.cases[planned.plan.case_index].tensors) {
      place(run,
            {tensor.name, 0, static_cast<std::uint64_t>(tensor.bytes()),
             static_cast<std::uint32_t>(size_of(tensor.dtype)), tensor.is_output, role_of(tensor)});
    }
    for (const ResolvedScratch& scratch : scratch_buffers) {
      place(run,
            {scratch.name, 0, static_cast<std::uint64_t>(scratch.bytes),
             static_cast<std::uint32_t>(scratch.bytes / scratch.elements), true, Role::kScratch});
    }
    batches_.back().job.runs.push_back(std::move(run));
    arena = std::max(arena, end);
  }
  arena_ = SharedMemory(arena, "krl-arena");
}

// Draws the inputs and poisons everything else, so that missing writes show.
void MachineRuns::fill(const Batch& batch) {
  Garbage(batch.job.seed).fill(arena_.bytes());
  for (std::size_t r = 0; r < batch.job.runs.size(); ++r) {
    const auto& inputs = runs_[batch.first + r].data->inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::memcpy(arena_.bytes().data() + batch.job.runs[r].buffers[i].offset, inputs[i].data(),
                  inputs[i].size());
    }
  }
}

Argument MachineRuns::argument_of(const PlannedRun& plan, const LaunchArgument& argument) const {
  const ResolvedCase& resolved = task_.cases[plan.case_index];
  switch (argument.kind) {
    case LaunchArgument::kTensor:
      return BufferArgument{static_cast<std::uint32_t>(argument.index)};
    case LaunchArgument::kScratch:
      return BufferArgument{static_cast<std::uint32_t>(resolved.tensors.size() + argument.index)};
    case LaunchArgument::kScalar: {
      const ResolvedScalar& scalar = resolved.scalars[argument.index];
      if (is_floating(scalar.dtype)) return static_cast<float>(scalar.real);
      return scalar.integer;
    }
    case LaunchArgument::kTensorMap: {
      const ResolvedTensorMap& map =
          schedule_.programs[plan.case_index].tensor_maps[argument.index];
      return tensor_map_of(map, std::get<BufferArgument>(argument_of(plan, map.buffer)).buffer);
    }
    case LaunchArgument::kInteger:
      break;
  }
  return argument.integer;  // the machine makes it as wide as the parameter
}

void MachineRuns::write_job(const MachineOptions& options, const MachineModule& module,
                            Batch* batch) {
  Job& job = batch->job;
  job.kernels = module.kernels;
  job.work_limit = options.work_limit;
  job.max_shared_bytes = options.max_shared_bytes;
  job.path_clocks = options.path_clocks;
  for (std::size_t r = 0; r < job.runs.size(); ++r) {
    const PlannedRun& plan = runs_[batch->first + r].plan;
    job.runs[r].launches.clear();
    for (const ResolvedLaunch& launch : schedule_.programs[plan.case_index].launches) {
      Launch& out = job.runs[r].launches.emplace_back(shape_of(launch, schedule_.kernels));
      for (const LaunchArgument& argument : launch.arguments) {
        out.arguments.push_back(argument_of(plan, argument));
      }
      out.resident_blocks = module.resident_blocks(out);
    }
  }
}

bool MachineRuns::fail(Verdict verdict, std::string why) {
  verdict_ = verdict;
  why_ = std::move(why);
  return false;
}

// Appends the runs of a batch to those of the batches before it.
void MachineRuns::add(Result result, std::size_t first) {
  const auto before = static_cast<std::uint32_t>(first);
  if (result.fault) result.fault->run += before;
  if (result.launch_error) result.launch_error->run += before;
  result.work += result_.work;
  for (Encounter& met : result.encounters) met.run += before;
  for (Unwritten& unwritten : result.unwritten) unwritten.run += before;
  for (Unset& unset : result.unset) unset.run += before;
  result.runs.insert(result.runs.begin(), result_.runs.begin(), result_.runs.end());
  result.encounters.insert(result.encounters.begin(), result_.encounters.begin(),
                           result_.encounters.end());
  result.unwritten.insert(result.unwritten.begin(), result_.unwritten.begin(),
                          result_.unwritten.end());
  result.unset.insert(result.unset.begin(), result_.unset.begin(), result_.unset.end());
  result_ = std::move(result);
}

// The arena is used again.
void MachineRuns::keep_tensors(const Batch& batch) {
  for (std::size_t r = 0; r < batch.job.runs.size(); ++r) {
    const std::size_t run = batch.first + r;
    const std::byte* const from = arena_.bytes().data() + batch.job.runs[r].buffers.front().offset;
    kept_.emplace_back(from, from + tensor_bytes(task_.cases[runs_[run].plan.case_index]));
  }
}

bool MachineRuns::execute(const MachineOptions& options, const MachineModule& module,
                          const std::function<bool()>& cancelled) {
  if (verdict_ != Verdict::kOk) return false;
  result_ = {};
  kept_.clear();
  for (Batch& batch : batches_) {
    write_job(options, module, &batch);
    if (!execute(options, module, batch, cancelled)) return false;
    if (batches_.size() > 1) keep_tensors(batch);
    if (result_.fault || result_.launch_error) break;
  }
  return true;
}

bool MachineRuns::execute(const MachineOptions& options, const MachineModule& module,
                          const Batch& batch, const std::function<bool()>& cancelled) {
  JobOutcome outcome = execute_job(
      options, batch.job, module.ptx, arena_, [&] { fill(batch); }, cancelled);
  if (!outcome.result) return fail(outcome.verdict, std::move(outcome.why));
  name_for_people(batch.job.kernels, schedule_.kernels, &*outcome.result);
  add(*std::move(outcome.result), batch.first);
  return true;
}

std::span<const std::byte> MachineRuns::tensor(std::size_t run, std::size_t index) const {
  const auto batch = std::find_if(batches_.rbegin(), batches_.rend(),
                                  [run](const Batch& b) { return b.first <= run; });
  const auto& buffers = batch->job.runs[run - batch->first].buffers;
  const Buffer& buffer = buffers[index];
  if (kept_.empty())
    return std::span<const std::byte>(arena_.bytes()).subspan(buffer.offset, buffer.bytes);
  return std::span<const std::byte>(kept_[run])
      .subspan(buffer.offset - buffers.front().offset, buffer.bytes);
}

}  // namespace krl::cpu
