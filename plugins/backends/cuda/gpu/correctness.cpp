#include "plugins/backends/cuda/gpu/correctness.hpp"

#include <cuda.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string_view>

#include "plugins/backends/cuda/gpu/host_calls.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/cuda/gpu/launch_batch.hpp"
#include "plugins/backends/evaluator/oracle/oracle_client.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

constexpr int kRepetitions = 2;  // reruns of a wrong run, to see whether it is wrong every time
constexpr std::uint64_t kMostRuns = 64;  // runs at once: their requests wait in a pipe

struct FaultText {
  CUresult code;
  Verdict verdict;
  std::string_view text;
};
constexpr FaultText kFaults[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, Verdict::kRuntimeFault, "an access to an illegal address"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, Verdict::kRuntimeFault, "a misaligned access"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, Verdict::kRuntimeFault,
     "an access to the wrong kind of memory"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, Verdict::kRuntimeFault, "an illegal instruction"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, Verdict::kRuntimeFault, "a stack overflow"},
    {CUDA_ERROR_INVALID_PC, Verdict::kRuntimeFault, "a jump to an invalid address"},
    {CUDA_ERROR_LAUNCH_FAILED, Verdict::kRuntimeFault, "a trap or another fault"},
    {CUDA_ERROR_ASSERT, Verdict::kRuntimeFault, "a failed assertion"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, Verdict::kTimeout, "the kernel ran too long"},
    {CUDA_ERROR_OUT_OF_MEMORY, Verdict::kResourceLimit, "not enough memory on the GPU"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Verdict::kLaunchError, "too many resources for a launch"},
};

// Null if the code is of no such fault.
const FaultText* find_fault(int code) {
  const auto fault = std::find_if(std::begin(kFaults), std::end(kFaults), [&](const FaultText& f) {
    return static_cast<int>(f.code) == code;
  });
  return fault == std::end(kFaults) ? nullptr : fault;
}

std::string key_of(const PreparedTask& task, const PlannedRun& run) {
  return task.digest + "/" + task.cases[run.case_index].label + "/" + std::to_string(run.seed) +
         "/" + std::to_string(static_cast<int>(run.distribution)) + "/" +
         std::to_string(run.change);
}

const ResolvedTensor& output_of(const PreparedTask& task, const PlannedRun& run,
                                std::size_t output) {
  return *task.cases[run.case_index].find(task.definition.outputs[output].name);
}

void require_right_reference(const PreparedTask& task, const PlannedRun& run,
                             const gpu::CheckResult& result) {
  if (result.problem.message.empty()) return;
  throw reference_failure(task.definition, task.cases[run.case_index], result.problem);
}

Comparison comparison_of(const gpu::CheckedOutput& output) {
  Comparison comparison;
  comparison.wrong = static_cast<std::int64_t>(output.wrong);
  comparison.first = output.first;
  comparison.max_abs_error = output.max_abs_error;
  comparison.max_rel_error = output.max_rel_error;
  return comparison;
}

// Returns the mean of each output's expected values over all runs.
std::vector<double> means(Gpu& gpu, const PreparedTask& task, const std::vector<PlannedRun>& runs) {
  std::vector<double> means(task.definition.outputs.size()), elements(means.size());
  for (const PlannedRun& run : runs) {
    const gpu::Check check = expectation(task, run);
    const auto sums = gpu.ask_checker("sums", check).get<std::vector<double>>();
    for (std::size_t o = 0; o < means.size(); ++o) {
      means[o] += sums[o];
      elements[o] += static_cast<double>(output_of(task, run, o).elements);
    }
  }
  for (std::size_t o = 0; o < means.size(); ++o) {
    means[o] /= elements[o];
    if (!is_floating(task.definition.outputs[o].dtype)) means[o] = std::nearbyint(means[o]);
  }
  return means;
}

// Returns the expectation of a run whose outputs are in the checker's own arena.
gpu::Check with_outputs(const PreparedTask& task, const PlannedRun& run) {
  gpu::Check check = expectation(task, run);
  std::uint64_t end = 0;
  for (std::size_t o = 0; o < task.definition.outputs.size(); ++o) {
    check.output_offsets.push_back(end);
    end += aligned(static_cast<std::uint64_t>(output_of(task, run, o).bytes()));
  }
  return check;
}

bool can_be_copied(const PreparedTask& task, const PlannedRun& run, std::size_t input) {
  const ResolvedTensor& source = task.cases[run.case_index].tensors[input];
  for (std::size_t o = 0; o < task.definition.outputs.size(); ++o) {
    const ResolvedTensor& output = output_of(task, run, o);
    if (output.dtype != source.dtype || output.elements != source.elements) return false;
  }
  return true;
}

// Failures that only host code can cause.
std::optional<Blame> blame_of_host_code(const RunnerFailure& failure) {
  switch (failure.kind) {
    case RunnerFailure::kTimeout:
      break;
    case RunnerFailure::kForged:
      return Blame{Verdict::kFlagged, "it tampered with the harness's answers"};
    case RunnerFailure::kDied:
      if (failure.ending.deadline) {
        return Blame{Verdict::kFlagged, "it closed its connection to the harness"};
      }
      if (failure.ending.signal == SIGKILL) throw RunnerKilled();
      return Blame{Verdict::kRuntimeFault,
                   "the process of its host code " + failure.ending.description()};
    case RunnerFailure::kTrouble:
      const gpu::Trouble& trouble = failure.trouble;
      if (trouble.host == gpu::Trouble::kItsWorkLeft) {
        return Blame{Verdict::kFlagged, trouble.message};
      }
      const bool known = find_fault(trouble.code) != nullptr;
      if (!known) return Blame{Verdict::kRuntimeFault, "its host code: " + trouble.message};
      break;
  }
  return std::nullopt;
}

// True if the run passes when it is repeated.
bool is_right_sometimes(Gpu& gpu, const GpuCandidate& candidate, const PlannedRun& run) {
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto inspections = run_and_inspect(gpu, candidate, {&run, 1}, false);
    if (!inspections) return false;
    if (inspections->front().verdict.passed) return true;
  }
  return false;
}

// The layout of each run.
std::vector<BufferSet> buffers_of(const GpuCandidate& candidate, std::span<const PlannedRun> runs) {
  std::vector<BufferSet> buffers;
  for (const PlannedRun& run : runs) buffers.push_back(candidate.buffers(run.case_index));
  return buffers;
}

std::uint64_t most_bytes(const std::vector<BufferSet>& buffers) {
  std::uint64_t bytes = 0;
  for (const BufferSet& set : buffers) bytes = std::max(bytes, set.program.bytes);
  return bytes;
}

// Each on a separate set. `anew`: the first of a case finds the module as the first of a batch of
// timed launches does. The first failure, if there is one.
std::optional<RunnerFailure> run_all(Gpu& gpu, const std::vector<BufferSet>& buffers,
                                     std::span<const PlannedRun> runs,
                                     const std::vector<std::uint64_t>& places, bool anew) {
  std::vector<nlohmann::json> requests;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const bool is_first = r == 0 || runs[r].case_index != runs[r - 1].case_index;
    requests.emplace_back(gpu::Run{buffers[r].program, places[r], drawn_inputs(runs[r]),
                                   runs[r].poison, anew && is_first});
  }
  return gpu.ask_runner_all("run", requests);
}

std::optional<RunnerFailure> run_host_code(Gpu& gpu, const BufferSet& buffers,
                                           const PlannedRun& run, std::uint64_t place) {
  const gpu::Stage stage{0, buffers.program, {place}, {run.seed}, run.distribution, run.poison};
  const auto called = call_host_code(gpu, stage, 1);
  return called ? std::nullopt : std::optional(called.error());
}

Inspection inspection_of(const PreparedTask& task, const PlannedRun& run, const BufferSet& buffers,
                         const gpu::CheckResult& result) {
  Inspection inspection;
  if (!result.changed_guards.empty()) {
    inspection.outside = buffers.place_of(result.changed_guards.front());
  }
  if (!result.changed_inputs.empty() && task.protocol == Protocol::kKernelrl) {
    const auto& input = task.definition.inputs[result.changed_inputs.front()];
    inspection.verdict = {false, "the input " + input.name + " was changed", 0, 0};
    return inspection;
  }
  for (std::size_t o = 0; o < result.outputs.size(); ++o) {
    inspection.verdict.add(output_of(task, run, o), comparison_of(result.outputs[o]));
  }
  return inspection;
}

std::vector<Inspection> inspect(Gpu& gpu, const GpuCandidate& candidate,
                                const std::vector<BufferSet>& buffers,
                                std::span<const PlannedRun> runs,
                                const std::vector<std::uint64_t>& places) {
  const PreparedTask& task = candidate.task;
  std::vector<gpu::Check> checks;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    gpu::Check& check = checks.emplace_back(expectation(task, runs[r]));
    check.runner = gpu.runner();
    check.place = places[r];
    check.bytes = buffers[r].program.bytes;
    check.input_offsets = buffers[r].input_offsets;
    check.output_offsets = buffers[r].output_offsets;
    check.guards = buffers[r].guards;
    check.fetched = candidate.has_host();
  }
  const auto results = results_of(gpu, checks);
  std::vector<Inspection> inspections;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    require_right_reference(task, runs[r], results[r]);
    inspections.push_back(inspection_of(task, runs[r], buffers[r], results[r]));
  }
  return inspections;
}

// May the runs of two cases be in the arena at once? One of a real size is run when all before it
// were right.
bool are_together(const PreparedTask& task, std::size_t a, std::size_t b) {
  const bool real = task.is_real(a) || task.is_real(b);
  return a == b || (!real && task.kind_of(a) == task.kind_of(b));
}

// The first runs of `plan` that the arena has room for at once.
std::span<const PlannedRun> next_runs(Gpu& gpu, const GpuCandidate& candidate,
                                      std::span<const PlannedRun> plan) {
  const std::uint64_t most = candidate.has_host() ? 1 : kMostRuns;
  std::uint64_t runs = 0, bytes = 0;
  for (const PlannedRun& run : plan.first(std::min(plan.size(), most))) {
    if (!are_together(candidate.task, plan.front().case_index, run.case_index)) break;
    bytes = std::max(bytes, candidate.buffers(run.case_index).program.bytes);
    if (runs > 0 && (runs + 1) * bytes > gpu.arena_bytes() / 2) break;
    ++runs;
  }
  return plan.first(runs);
}

// Is a case still to be judged? A candidate that failed in cheap runs is not run in expensive ones.
bool is_open(const PreparedTask& task, std::size_t index, EvaluationRecord* record) {
  Case& c = record->cases[index];
  const bool costly = task.is_real(index) || task.kind_of(index) == CaseKind::kFresh;
  const bool failed = record->verdict != Verdict::kOk;
  if (costly && failed && c.verdict == Verdict::kOk) leave_out(&c, record->verdict);
  return c.verdict == Verdict::kOk;
}

// The inspections of runs: false if the candidate has failed.
bool report(Gpu& gpu, const GpuCandidate& candidate, std::span<const PlannedRun> runs,
            const std::vector<Inspection>& inspections, EvaluationRecord* record) {
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!is_open(candidate.task, runs[r].case_index, record)) continue;
    Case& c = record->cases[runs[r].case_index];
    if (!inspections[r].outside.empty()) {
      gpu.replace_runner();
      stop(runs[r].case_index, Verdict::kRuntimeFault,
           "the kernel wrote outside of its buffers, " + inspections[r].outside, record);
      return false;
    }
    merge(inspections[r].verdict, runs[r], &c);
    if (inspections[r].verdict.passed) continue;
    if (is_right_sometimes(gpu, candidate, runs[r])) {
      c.verdict = Verdict::kNondeterministic;
      c.detail = "correct when run again; " + c.detail;
    }
    record->fail(c.verdict, named(c) + ": " + c.detail);
  }
  return true;
}

// Reports a failed run. The results of the cases before it are lost, so those run again.
void report_failure(Gpu& gpu, const GpuCandidate& candidate, std::span<const PlannedRun> runs,
                    const RunnerFailure& failure, EvaluationRecord* record) {
  const PlannedRun& failed = runs[failure.request];
  const Blame blame = blame_of(failure, candidate, failed);
  const auto own = std::find_if(runs.begin(), runs.end(), [&](const PlannedRun& run) {
    return run.case_index == failed.case_index;
  });
  const auto earlier = runs.first(static_cast<std::size_t>(own - runs.begin()));
  if (!earlier.empty()) {
    gpu.replace_runner();
    const auto loaded = gpu.ask_runner("load", candidate.load());
    const auto again = loaded ? run_and_inspect(gpu, candidate, earlier) : loaded.error();
    if (again && !report(gpu, candidate, earlier, *again, record)) return;
  }
  stop(failed.case_index, blame.verdict, blame.why, record);
  record->repeatable = record->repeatable && blame.verdict != Verdict::kTimeout;
}

}  // namespace

std::vector<gpu::CheckResult> results_of(Gpu& gpu, const std::vector<gpu::Check>& checks) {
  const auto results = gpu.ask_checker("check", checks, checks.size());
  return results.get<std::vector<gpu::CheckResult>>();
}

gpu::DrawnInputs drawn_inputs(const PlannedRun& run) {
  return {run.seed, run.distribution, run.change};
}

gpu::Check expectation(const PreparedTask& task, const PlannedRun& run) {
  gpu::Check check;
  check.key = key_of(task, run);
  check.reference =
      oracle_request(task.definition, task.cases[run.case_index], repeats_values(run.distribution));
  std::vector<std::uint64_t> offsets;
  for (const OracleTensor& input : check.reference.inputs) offsets.push_back(input.offset);
  check.inputs = fills_of(task, run.case_index, offsets);
  check.drawn = drawn_inputs(run);
  check.atol = task.definition.tolerance.atol;
  check.rtol = task.definition.tolerance.rtol;
  return check;
}

Blame blame_of(const RunnerFailure& failure, const GpuCandidate& candidate, const PlannedRun& run) {
  if (candidate.has_host()) {
    if (const auto blame = blame_of_host_code(failure)) return *blame;
  }
  if (failure.kind == RunnerFailure::kTimeout) {
    return {Verdict::kTimeout, "the kernel did not end within the limit"};
  }
  if (failure.kind == RunnerFailure::kDied) {
    throw Failure(KRL_UNAVAILABLE, "the process that ran the kernel died");
  }
  const gpu::Trouble& trouble = failure.trouble;
  const FaultText* const fault = find_fault(trouble.code);
  const bool known = fault != nullptr;
  if (!known && !trouble.launching) throw Failure(KRL_UNAVAILABLE, "CUDA: " + trouble.message);
  std::string why = known ? std::string(fault->text) : trouble.message;
  if (trouble.launching) {
    const auto& launches = candidate.schedule.programs[run.case_index].launches;
    const ResolvedLaunch& launch = launches[trouble.launch];
    why = described({launch.line, launch.column, "the launch was refused: " + why});
  }
  const bool launch_error =
      trouble.launching && (!known || fault->verdict != Verdict::kResourceLimit);
  return {launch_error ? Verdict::kLaunchError : fault->verdict, std::move(why)};
}

void expect_on_gpu(Gpu& gpu, const PreparedTask& task, const PlannedRun& run) {
  require_right_reference(task, run, results_of(gpu, {expectation(task, run)}).front());
}

std::vector<OutputTraits> traits_on_gpu(Gpu& gpu, const PreparedTask& task, const PlannedRun& run) {
  expect_on_gpu(gpu, task, run);
  const auto traits = gpu.ask_checker("traits", with_outputs(task, run));
  return traits.get<std::vector<OutputTraits>>();
}

bool passes_on_gpu(Gpu& gpu, const PreparedTask& task, const std::vector<PlannedRun>& runs,
                   const Impostor& impostor) {
  gpu::TryImpostor made_up;
  made_up.numbers.resize(task.definition.outputs.size());
  if (impostor.kind == Impostor::kMean) made_up.numbers = means(gpu, task, runs);
  if (impostor.kind == Impostor::kCopy) made_up.copied = static_cast<std::int64_t>(impostor.which);
  return std::all_of(runs.begin(), runs.end(), [&](const PlannedRun& run) {
    if (!is_tried(impostor, run)) return true;
    if (impostor.kind == Impostor::kCopy && !can_be_copied(task, run, impostor.which)) return false;
    made_up.run = with_outputs(task, run);
    const auto passes = gpu.ask_checker("try_impostor", made_up).get<std::vector<bool>>();
    for (std::size_t o = 0; o < passes.size(); ++o) {
      if (impostor.is_tried_as(o) && !passes[o]) return false;
    }
    return true;
  });
}

Checked<std::vector<Inspection>, RunnerFailure> run_and_inspect(Gpu& gpu,
                                                                const GpuCandidate& candidate,
                                                                std::span<const PlannedRun> runs,
                                                                bool anew) {
  std::mt19937_64 random(secret_number());
  const std::vector<BufferSet> buffers = buffers_of(candidate, runs);
  const auto places = random_places(runs.size(), most_bytes(buffers), 0, gpu.arena_bytes(), random);
  const auto failure = candidate.has_host()
                           ? run_host_code(gpu, buffers.front(), runs.front(), places.front())
                           : run_all(gpu, buffers, runs, places, anew);
  if (failure) return *failure;
  std::vector<Inspection> inspections;
  with_runner(gpu, [&] { inspections = inspect(gpu, candidate, buffers, runs, places); });
  return inspections;
}

void check_arena(Gpu& gpu, EvaluationRecord* record) {
  if (gpu.arena_is_intact()) return;
  gpu.replace_runner();
  if (record->verdict != Verdict::kOk) return;
  stop(0, Verdict::kRuntimeFault, "the kernel wrote outside of its buffers, far from all of them",
       record);
}

bool ends_in_order(Gpu& gpu, const GpuCandidate& candidate, const PlannedRun& run,
                   EvaluationRecord* record) {
  const auto failure = end_host_code(gpu);
  if (!failure) return true;
  const Blame blame = blame_of(*failure, candidate, run);
  if (record->verdict == Verdict::kOk) stop(run.case_index, blame.verdict, blame.why, record);
  return false;
}

void check_on_gpu(Gpu& gpu, const GpuCandidate& candidate, const std::vector<PlannedRun>& plan,
                  EvaluationRecord* record) {
  const PreparedTask& task = candidate.task;
  record->cases = untried_cases(task, task.cases.size());
  if (const auto loaded = gpu.ask_runner("load", candidate.load()); !loaded) {
    const Blame blame = blame_of(loaded.error(), candidate, plan.front());
    stop(0, blame.verdict, blame.why, record);
    return;
  }
  for (std::span<const PlannedRun> rest = plan; !rest.empty();) {
    if (!is_open(task, rest.front().case_index, record)) {
      rest = rest.subspan(1);
      continue;
    }
    const auto runs = next_runs(gpu, candidate, rest);
    rest = rest.subspan(runs.size());
    const auto inspections = run_and_inspect(gpu, candidate, runs);
    if (!inspections) return report_failure(gpu, candidate, runs, inspections.error(), record);
    if (!report(gpu, candidate, runs, *inspections, record)) return;
  }
}

}  // namespace krl::cuda
