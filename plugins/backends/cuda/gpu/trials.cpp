#include "plugins/backends/cuda/gpu/trials.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "plugins/backends/cuda/gpu/called_trials.hpp"
#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/cuda/gpu/launch_batch.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

constexpr double kRequestNs = 1e9;  // trials of one request, which has a time limit
// Trials per request: the last one is checked, and no candidate knows which one that is.
constexpr std::uint32_t kMostAtOnce = 50;

using Samples = std::vector<double>;  // ns

// `ask` makes so many trials after so many warm-ups; none: they failed. An empty list: they cannot
// be made.
template <class Ask>
std::optional<Samples> all_trials(const Ask& ask) {
  const std::optional<Samples> first = ask(kWarmUps, 1);
  if (!first || first->empty()) return first;
  const double ns = std::max(first->front(), 1.0);
  const auto trials_of = [&](double limit_ns) {
    return static_cast<std::uint32_t>(std::clamp(limit_ns / ns, 1.0, double{kTrials}));
  };
  std::mt19937_64 random(secret_number());
  Samples samples;
  while (samples.size() < trials_of(kMostNs)) {
    const auto left = static_cast<std::uint32_t>(trials_of(kMostNs) - samples.size());
    const auto some = 1 + static_cast<std::uint32_t>(random() % kMostAtOnce);
    const std::optional<Samples> more = ask(1, std::min({left, some, trials_of(kRequestNs)}));
    if (!more || more->empty()) return more;
    for (const double sample : *more) samples.push_back(std::max(sample, 1.0));
  }
  return samples;
}

double mean_of(const Samples& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

void keep(const Samples& samples, Case* timed) {
  timed->samples_ns = samples;
  timed->time_ns = mean_of(samples);
}

// Makes some trials of a candidate on a set that is laid out for them; the outputs of the last one
// are checked. Returns none if it failed; the record then contains the reason.
std::optional<Samples> checked_trials(Gpu& gpu, const GpuCandidate& candidate,
                                      const PlannedRun& run, gpu::Trials request,
                                      EvaluationRecord* record) {
  const BufferSet buffers = candidate.buffers(run.case_index);
  request.program = buffers.program;
  gpu.ask_checker("stage", gpu::Stage{gpu.runner(),
                                      request.program,
                                      {request.place},
                                      {run.seed},
                                      run.distribution,
                                      run.poison});
  const auto answer =
      gpu.ask_runner("time_trials", request, request.warm_ups + request.trials, request.trials);
  if (!answer) {
    const Blame blame = blame_of(answer.error(), candidate, run);
    stop(run.case_index, blame.verdict, "when it was timed: " + blame.why, record);
    gpu.replace_runner();
    return std::nullopt;
  }
  gpu::Check check = expectation(candidate.task, run);  // puts the set away
  check.runner = gpu.runner();
  check.place = request.place;
  check.bytes = request.program.bytes;
  check.output_offsets = buffers.output_offsets;
  const auto outputs = results_of(gpu, {check}).front().outputs;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o].wrong == 0) continue;
    stop(run.case_index, Verdict::kFlagged,
         "correct when checked, wrong when timed: " + candidate.task.definition.outputs[o].name +
             ": " + std::to_string(outputs[o].wrong) + " elements are wrong",
         record);
    return std::nullopt;
  }
  return answer->get<Samples>();
}

// Returns false if it failed; the record then contains the reason.
bool time_candidate(Gpu& gpu, const GpuCandidate& candidate, const PlannedRun& run,
                    EvaluationRecord* record) {
  std::mt19937_64 random(secret_number());
  gpu::Trials request;
  request.place = random_places(1, candidate.buffers(run.case_index).program.bytes, 0,
                                gpu.arena_bytes(), random)
                      .front();
  const auto samples = all_trials([&](std::uint32_t warm_ups, std::uint32_t trials) {
    request.warm_ups = warm_ups;
    request.trials = trials;
    return checked_trials(gpu, candidate, run, request, record);
  });
  if (!samples) return false;
  keep(*samples, &record->cases[run.case_index]);
  return true;
}

void time_reference(Gpu& gpu, const PreparedTask& task, const PlannedRun& run, Case* timed) {
  const gpu::Check expected = expectation(task, run);
  const auto samples = all_trials([&](std::uint32_t warm_ups, std::uint32_t trials) {
    const gpu::TimeReference request{
        expected.reference, expected.inputs, {run.seed}, warm_ups, trials};
    return std::optional(gpu.ask_checker("time_reference", request).get<Samples>());
  });
  if (samples->empty()) return;
  timed->baseline_samples_ns = *samples;
  timed->baseline_ns = mean_of(*samples);
  timed->speedup = timed->baseline_ns / timed->time_ns;
}

// References are timed after the end of the candidate's process, which could make them slower.
void time_host_code(Gpu& gpu, const GpuCandidate& candidate, const std::vector<PlannedRun>& runs,
                    EvaluationRecord* record) {
  std::vector<std::pair<const PlannedRun*, CalledTrials>> all;
  with_runner(gpu, [&] {
    for (const PlannedRun& run : runs) {
      if (!run.counted || record->verdict != Verdict::kOk) continue;
      if (auto trials = call_trials(gpu, candidate, run, record)) all.emplace_back(&run, *trials);
    }
    check_arena(gpu, record);
  });
  if (!ends_in_order(gpu, candidate, runs.front(), record)) return;
  for (const auto& [run, trials] : all) {
    Case& timed = record->cases[run->case_index];
    keep(trial_times(gpu, candidate.task, *run, trials), &timed);
    time_reference(gpu, candidate.task, *run, &timed);
  }
}

}  // namespace

void time_trials(Gpu& gpu, const GpuCandidate& candidate, const std::vector<PlannedRun>& runs,
                 EvaluationRecord* record) {
  if (candidate.has_host()) return time_host_code(gpu, candidate, runs, record);
  with_runner(gpu, [&] {
    for (const PlannedRun& run : runs) {
      if (!run.counted || record->verdict != Verdict::kOk) continue;
      if (time_candidate(gpu, candidate, run, record)) {
        time_reference(gpu, candidate.task, run, &record->cases[run.case_index]);
      }
    }
  });
}

}  // namespace krl::cuda
