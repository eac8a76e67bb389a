#include "plugins/backends/cuda/gpu/host_timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "plugins/backends/cuda/gpu/case_figures.hpp"
#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/cuda/gpu/launch_batch.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFewestSamples = 8;   // samples of a candidate, milliseconds each
constexpr std::size_t kFewestBaseline = 4;  // samples per half
constexpr std::size_t kMostBaseline = 8;
constexpr std::chrono::milliseconds kBaselineLimit{150};  // per half, beyond the fewest
constexpr std::chrono::seconds kRecent{10};  // a baseline this recent need not be measured again
constexpr int kLooksAtBaseline = 3;  // looks at the first call, at some calls, and at a sample's
constexpr int kMostLengths = 6;      // lengths of a candidate's samples, in calls
// A baseline that exceeds the least one seen by more than this is measured once more.
constexpr double kSameBaseline = 0.02;

double spread(const std::vector<CallTimes>& samples, std::uint32_t calls) {
  std::vector<double> ns;
  for (const CallTimes& took : samples) ns.push_back(ns_of_call(took, CallTimes(), calls));
  return log_ratio(std::vector<double>(ns.size(), 1.0), ns).half_width();
}

// Returns as many samples as the candidate has, half of them from before it and half from after it.
std::vector<double> in_pairs(const CalledBaseline& before, const CalledBaseline& after,
                             std::size_t samples) {
  std::vector<double> ns;
  for (std::size_t s = 0; s < samples; ++s) {
    const std::vector<double>& half = (s % 2 == 0 ? before : after).ns;
    ns.push_back(std::max(half[s / 2 % half.size()], 1.0));
  }
  return ns;
}

void compare(const CalledBaseline& before, const CalledBaseline& after, double doubt, Case* timed) {
  timed->baseline_samples_ns = in_pairs(before, after, timed->samples_ns.size());
  timed->baseline_ns = median_of(timed->baseline_samples_ns);
  const double drift = std::log(median_of(before.ns) / median_of(after.ns));
  const LogRatio ratio = log_ratio(timed->baseline_samples_ns, timed->samples_ns)
                             .widened(kLoadError + std::fabs(drift) / 2);
  timed->speedup = std::exp(ratio.median);
  timed->speedup_low = std::exp(ratio.low - doubt);
  timed->speedup_high = std::exp(ratio.high);
}

}  // namespace

HostTiming::HostTiming(Gpu& gpu, const PreparedTask& task, const GpuBaseline& baseline,
                       const std::vector<PlannedRun>& runs)
    : gpu_(gpu), task_(task), baseline_(baseline), random_(secret_number()) {
  for (const PlannedRun& run : runs) {
    if (run.counted) cases_.emplace_back().run = &run;
  }
}

void HostTiming::time_baselines() {
  gpu_.peaks();
  for (TimedCase& timed : cases_) {
    timed.least = least_of(timed, 1);
    if (baseline_.exists()) timed.before = baseline_of(timed, true);
    if (baseline_.reference) continue;
    timed.reference_ns = CaseFigures(gpu_, task_, *timed.run).reference_ns(random_);
  }
}

CalledBaseline HostTiming::baseline_of(const TimedCase& timed, bool may_be_recent) {
  const std::string key = CaseFigures(gpu_, task_, *timed.run).key_of("called/" + baseline_.digest);
  CalledBaseline& last = gpu_.called_baselines()[key];
  const bool known = !last.ns.empty();
  if (known && may_be_recent && Clock::now() - last.at < kRecent) return last;
  CalledBaseline fresh = measured_baseline(timed, known ? last.calls : 0);
  fresh.least_ns = median_of(fresh.ns);
  if (known && fresh.least_ns > (1 + kSameBaseline) * last.least_ns) {
    CalledBaseline again = measured_baseline(timed, fresh.calls);
    again.least_ns = median_of(again.ns);
    if (again.least_ns < fresh.least_ns) fresh = std::move(again);
  }
  if (known) fresh.least_ns = std::min(fresh.least_ns, last.least_ns);
  return gpu_.called_baselines()[key] = fresh;
}

// `calls`: of a sample; 0: not known yet.
CalledBaseline HostTiming::measured_baseline(const TimedCase& timed, std::uint32_t calls) {
  CalledBaseline measured;
  measured.calls = std::max(calls, 1u);
  const int looks = calls == 0 ? kLooksAtBaseline : 1;
  for (int look = 0; look < looks && baseline_.kernel != nullptr; ++look) {
    const double ns = time_baseline(timed, measured.calls);
    measured.calls = calls_of(baseline_.kernel->buffers(timed.run->case_index), ns);
  }
  const auto start = Clock::now();
  while (measured.ns.size() < kFewestBaseline ||
         (measured.ns.size() < kMostBaseline && Clock::now() - start < kBaselineLimit)) {
    measured.ns.push_back(time_baseline(timed, measured.calls));
  }
  measured.at = Clock::now();
  return measured;
}

CallTimes HostTiming::least_of(const TimedCase& timed, std::uint32_t calls) {
  const gpu::Program program = lay_out_host(task_, timed.run->case_index).program;
  in_checker_ = nullptr;
  return rehearse(gpu_, program,
                  random_places(calls, program.bytes, 0, gpu_.arena_bytes(), random_));
}

std::uint32_t HostTiming::calls_of(const BufferSet& buffers, double ns) const {
  return calls_of_batch(ns, buffers.program.bytes, gpu_.arena_bytes());
}

// Times the baseline as host code is timed: enqueueing a launch counts for both.
double HostTiming::time_baseline(const TimedCase& timed, std::uint32_t calls) {
  if (baseline_.reference) {
    const auto ns = CaseFigures(gpu_, task_, *timed.run).time_reference({random_()});
    if (!ns.empty()) return ns.front();
    invalid_argument(task_.definition.id +
                     ": its reference does not run on the GPU, so its time cannot be the baseline");
  }
  load_in_checker(*baseline_.kernel);
  const gpu::Program program = baseline_.kernel->buffers(timed.run->case_index).program;
  gpu::Stage stage{0, program, {}, {}};
  stage.places = random_places(calls, program.bytes, 0, gpu_.arena_bytes(), random_);
  for (std::uint32_t s = 0; s < calls; ++s) stage.seeds.push_back(random_());
  return gpu_.ask_checker("time_launches", stage).get<double>();
}

void HostTiming::load_in_checker(const GpuCandidate& kernel) {
  if (in_checker_ == &kernel) return;
  gpu_.ask_checker("load", kernel.load());
  in_checker_ = &kernel;
}

void HostTiming::time(const GpuCandidate& candidate, const TimingSettings& settings,
                      EvaluationRecord* record) {
  if (cases_.empty()) return;
  if (const auto loaded = gpu_.ask_runner("load", candidate.load()); !loaded) {
    const Blame blame = blame_of(loaded.error(), candidate, *cases_.front().run);
    return stop(cases_.front().run->case_index, blame.verdict, blame.why, record);
  }
  in_checker_ = nullptr;  // the checks that have come meanwhile may have loaded something
  with_runner(gpu_, [&] {
    for (TimedCase& timed : cases_) {
      if (!time_calls(candidate, settings, &timed, record)) return;
    }
    check_arena(gpu_, record);
  });
  if (!ends_in_order(gpu_, candidate, *cases_.front().run, record)) return;
  if (record->verdict != Verdict::kOk) return;
  for (TimedCase& timed : cases_) {
    if (baseline_.exists()) timed.after = baseline_of(timed, false);
    report(&timed, record);
    if (record->verdict != Verdict::kOk) return;
  }
}

// The first call of host code takes milliseconds (code is loaded), each of its calls that no sample
// had before allocates memory, and a short sample shows little: so the first sample of a length is
// not counted, and one that took less than half of what a sample should take makes all of them
// longer, even a late one, because a busy machine can have disturbed those before it.
bool HostTiming::time_calls(const GpuCandidate& candidate, const TimingSettings& settings,
                            TimedCase* timed, EvaluationRecord* record) {
  LaunchCheck check(gpu_, candidate, baseline_.trusted, *timed->run, record);
  const BufferSet buffers = candidate.buffers(timed->run->case_index);
  const std::size_t most = 2 * std::max(timed->before.ns.size(), kFewestSamples);
  int lengths = 1;
  bool is_first_of_length = true;
  auto start = Clock::now();
  while (timed->samples.size() < most) {
    const auto took = sample(candidate, *timed, &check, record);
    if (!took) return false;
    if (std::exchange(is_first_of_length, false)) continue;
    const std::uint32_t calls = calls_of(buffers, ns_of_call(*took, timed->least, timed->calls));
    if (calls >= 2 * timed->calls && lengths < kMostLengths) {
      timed->calls = calls;
      timed->samples.clear();
      ++lengths;
      is_first_of_length = true;
      start = Clock::now();
      continue;
    }
    timed->samples.push_back(*took);
    const std::size_t n = timed->samples.size();
    if (n < kFewestSamples || n % 2 != 0) continue;
    if (settings.is_enough(spread(timed->samples, timed->calls), Clock::now() - start)) break;
  }
  return true;
}

// Times many calls with new inputs, because host code may remember the inputs that it has seen.
std::optional<CallTimes> HostTiming::sample(const GpuCandidate& candidate, const TimedCase& timed,
                                            LaunchCheck* check, EvaluationRecord* record) {
  const std::size_t index = timed.run->case_index;
  const BufferSet buffers = candidate.buffers(index);
  gpu::Examine examine;
  examine.fetched = true;
  examine.timed = {buffers.program, timed.calls, decoys_of_sample(timed.calls)};
  const std::uint32_t sets = examine.timed.sets();
  examine.places = random_places(sets, buffers.program.bytes, 0, gpu_.arena_bytes(), random_);
  const std::vector<std::uint64_t>& seeds = check->fresh_seeds(sets, random_);
  gpu::Stage stage{0, buffers.program, examine.places, {}, Distribution::kAsGiven, random_()};
  for (std::uint32_t set = 0; set < sets; ++set) {
    examine.members.push_back(set % seeds.size());
    examine.poisons.push_back(stage.poison + set);
    stage.seeds.push_back(seeds[set % seeds.size()]);
  }
  const auto took = call_host_code(gpu_, stage, timed.calls);
  if (!took) {
    const Blame blame = blame_of(took.error(), candidate, *timed.run);
    stop(index, blame.verdict, "when it was timed: " + blame.why, record);
    return std::nullopt;
  }
  if (!check->passes(examine, buffers, &in_checker_)) return std::nullopt;
  return *took;
}

void HostTiming::report(TimedCase* timed, EvaluationRecord* record) {
  const PlannedRun& run = *timed->run;
  const CallTimes least = least_of(*timed, timed->calls);
  Case& c = record->cases[run.case_index];
  c.samples_ns.clear();
  double unseen = 0;
  for (const CallTimes& took : timed->samples) {
    c.samples_ns.push_back(ns_of_call(took, least, timed->calls));
    unseen = std::max(unseen, unseen_ns(took, least));
  }
  c.time_ns = median_of(c.samples_ns);
  const auto index = static_cast<std::int32_t>(run.case_index);
  const auto add = [&](const char* name, double value) {
    record->values.push_back({index, name, "", value});
  };
  add("time_samples", static_cast<double>(c.samples_ns.size()));
  add("launches_per_sample", timed->calls);
  if (baseline_.kernel != nullptr) add("baseline_beside", 0);
  if (baseline_.exists()) {
    compare(timed->before, timed->after, doubt_of(c.time_ns, timed->calls, unseen), &c);
  }
  const CaseFigures figures(gpu_, task_, run);
  figures.add(baseline_.reference ? c.baseline_ns : timed->reference_ns, record);
  if (const double mhz = gpu_.clock_mhz(); mhz > 0) {
    record->values.push_back({index, "sm_clock", "MHz", mhz});
  }
  const std::string why = figures.faster_than_possible(c.time_ns, 1, baseline_.trusted);
  if (!why.empty()) stop(run.case_index, Verdict::kFlagged, why, record);
}

}  // namespace krl::cuda
