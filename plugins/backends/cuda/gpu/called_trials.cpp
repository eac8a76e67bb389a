#include "plugins/backends/cuda/gpu/called_trials.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <set>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/cuda/gpu/launch_batch.hpp"
#include "plugins/backends/cuda/gpu/trials.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChecked = 3;  // trials at random, and the last
constexpr int kEmptyTrials = 16;
// Tolerances on the medians of trials with no work outside the events.
constexpr double kRestNs = 5e3, kClockNs = 500e3;

// `ask` makes a trial; nothing: it failed.
template <class Ask>
bool add_trial(const Ask& ask, CalledTrials* trials) {
  const auto start = Clock::now();
  const std::optional<nlohmann::json> answer = ask();
  if (!answer) return false;
  const std::chrono::duration<double, std::nano> took = Clock::now() - start;
  const auto [between, rest] = answer->get<std::array<double, 2>>();
  trials->between.push_back(std::max(between, 1.0));
  trials->rest.push_back(rest);
  trials->by_clock.push_back(took.count());
  return true;
}

double median_beside(const CalledTrials& trials) {
  std::vector<double> beside;
  for (std::size_t t = 0; t < trials.between.size(); ++t) {
    beside.push_back(trials.by_clock[t] - trials.between[t]);
  }
  return median_of(std::move(beside));
}

class Trials {
 public:
  Trials(Gpu& gpu, const GpuCandidate& candidate, const PlannedRun& run, EvaluationRecord* record)
      : gpu_(gpu),
        candidate_(candidate),
        run_(run),
        record_(record),
        buffers_(candidate.buffers(run.case_index)) {}

  std::optional<CalledTrials> make() {
    CalledTrials trials;
    if (!trial(kWarmUps, &trials)) return std::nullopt;  // calls may have changed their inputs
    const double ns = trials.between.front();
    trials = {};
    const auto most = static_cast<std::size_t>(std::clamp(kMostNs / ns, 1.0, double{kTrials}));
    std::set<std::size_t> looks = {most - 1};
    while (looks.size() < std::min(most, kChecked + 1)) looks.insert(random_() % most);
    for (std::size_t t = 0; t < most; ++t) {
      // The expected outputs of checked trials are known from the previous candidate, whose seeds
      // are the same.
      const bool looked_at = looks.count(t) > 0;
      run_.seed = looked_at ? first_seed_ + ++checked_ : random_();
      if (!trial(0, &trials) || (looked_at && !is_right())) return std::nullopt;
    }
    return trials;
  }

 private:
  bool trial(std::uint32_t warm_ups, CalledTrials* trials) {
    const gpu::Program& program = buffers_.program;
    place_ = random_places(1, program.bytes, 0, gpu_.arena_bytes(), random_).front();
    gpu_.pause_runner();
    gpu_.ask_checker(
        "stage",
        gpu::Stage{gpu_.runner(), program, {place_}, {run_.seed}, run_.distribution, random_()});
    std::optional<RunnerFailure> failure;
    const auto ask = [&]() -> std::optional<nlohmann::json> {
      const gpu::CalledTrial request{program.host, place_, warm_ups};
      auto answer = gpu_.ask_runner("time_called_trial", request, warm_ups + 1, 2);
      if (answer) return *std::move(answer);
      failure = answer.error();
      return std::nullopt;
    };
    if (add_trial(ask, trials)) {
      gpu_.pause_runner();
      gpu_.ask_checker("fetch", gpu::Fetch{gpu_.runner(), program.bytes, {place_}, {}});
      return true;
    }
    const Blame blame = blame_of(*failure, candidate_, run_);
    stop(run_.case_index, blame.verdict, "when it was timed: " + blame.why, record_);
    return false;
  }

  bool is_right() {
    gpu::Check check = expectation(candidate_.task, run_);
    check.fetched = true;
    check.runner = gpu_.runner();
    check.place = place_;
    check.bytes = buffers_.program.bytes;
    check.output_offsets = buffers_.output_offsets;
    const auto result = results_of(gpu_, {check}).front();
    for (std::size_t o = 0; o < result.outputs.size(); ++o) {
      if (result.outputs[o].wrong == 0) continue;
      stop(run_.case_index, Verdict::kFlagged,
           "correct when checked, wrong when timed: " + candidate_.task.definition.outputs[o].name +
               ": " + std::to_string(result.outputs[o].wrong) + " elements are wrong",
           record_);
      return false;
    }
    return true;
  }

  Gpu& gpu_;
  const GpuCandidate& candidate_;
  PlannedRun run_;  // its seed is that of the present trial
  const std::uint64_t first_seed_ = run_.seed;
  std::uint64_t checked_ = 0;
  EvaluationRecord* const record_;
  const BufferSet buffers_;
  std::mt19937_64 random_{secret_number()};
  std::uint64_t place_ = 0;
};

}  // namespace

std::optional<CalledTrials> call_trials(Gpu& gpu, const GpuCandidate& candidate,
                                        const PlannedRun& run, EvaluationRecord* record) {
  return Trials(gpu, candidate, run, record).make();
}

std::vector<double> trial_times(Gpu& gpu, const PreparedTask& task, const PlannedRun& run,
                                const CalledTrials& trials) {
  const gpu::CalledTrial request{lay_out_host(task, run.case_index).program.host, 0, 0};
  CalledTrials empty;
  while (empty.between.size() < kEmptyTrials) {
    add_trial([&] { return std::optional(gpu.ask_checker("time_called_trial", request)); }, &empty);
  }
  const double rest = median_of(trials.rest) - median_of(empty.rest);
  const double by_clock = median_beside(trials) - median_beside(empty);
  const double beside = std::max(rest > kRestNs ? rest : 0, by_clock > kClockNs ? by_clock : 0);
  std::vector<double> times = trials.between;
  for (double& ns : times) ns += beside;
  return times;
}

}  // namespace krl::cuda
