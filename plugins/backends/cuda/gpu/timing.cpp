#include "plugins/backends/cuda/gpu/timing.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/values.hpp>
#include <random>
#include <string>
#include <utility>

#include "plugins/backends/cuda/gpu/case_figures.hpp"
#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/cuda/gpu/launch_batch.hpp"
#include "plugins/backends/cuda/gpu/launch_check.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

constexpr double kClockTolerance = 0.01;  // relative change of the SM clock between batches
constexpr int kMostDroppedBatches = 3;
// A baseline may be slower in the candidate's process than in the checker by this much, in addition
// to the difference in the cost of any launch: on an H200 up to 0.15 us either way.
constexpr double kSameTime = 0.02, kSameLaunchNs = 60;
// Samples of the first look, whose results are not checked.
constexpr std::uint32_t kFirstSamples = 2;
constexpr std::size_t kFewestLongSamples = 8;  // each of one launch, as it takes so long
constexpr double kLongBatchNs = 30e6;          // pairs of samples that take longer come one by one
constexpr double kTooSlow = 3;  // times the baseline, and long: the first look is all it gets
// Times the task's naive kernel; and in addition at least the following, as other programs use the
// GPU too.
constexpr double kMostSlowdown = 100;
constexpr std::chrono::milliseconds kLeastRunLimit{1000};

// Rounding and event resolution can make a time 0; a nanosecond is below any kernel's.
void append(std::vector<double> more, std::vector<double>* samples) {
  for (const double ns : more) samples->push_back(std::max(ns, 1.0));
}

double shortest_of(const std::vector<double>& ns) {
  return *std::min_element(ns.begin(), ns.end());
}

// Upper bound on the candidate's runs, assuming the baseline next to it is as slow.
std::uint32_t runs_of(const gpu::Time& time) {
  std::uint32_t runs = 0;
  for (const gpu::Timed& timed : time.programs) runs += 1 + time.samples * timed.launches;
  return runs;
}

using Clock = std::chrono::steady_clock;

// A program that is timed.
struct Sampled {
  BufferSet buffers;
  std::uint32_t launches = 1;  // per sample, each on its own set of buffers

  gpu::Timed timed() const { return {buffers.program, launches, decoys_of_sample(launches)}; }
  // Number of kernels in one launch of the program.
  std::size_t kernels() const { return std::max<std::size_t>(buffers.program.launches.size(), 1); }
};

class CaseTimer {
 public:
  CaseTimer(Gpu& gpu, const GpuCandidate& candidate, const GpuBaseline& baseline,
            const PlannedRun& run, const TimingSettings& settings, EvaluationRecord* record)
      : gpu_(gpu),
        candidate_(candidate),
        run_(run),
        settings_(settings),
        record_(record),
        case_(record->cases[run.case_index]),
        baseline_(baseline),
        arena_bytes_(gpu.arena_bytes()),
        beside_(baseline.kernel != nullptr),
        figures_(gpu, candidate.task, run),
        check_(gpu, candidate, baseline.trusted, run, record) {
    ours_.buffers = candidate.buffers(run.case_index);
    if (baseline.kernel != nullptr) theirs_.buffers = baseline.kernel->buffers(run.case_index);
  }

  void time() {
    if (!measure_all()) return;
    if (beside_ && !baseline_is_itself()) {
      beside_ = false;
      if (!measure_all()) return;
    }
    report();
  }

 private:
  using Batch = std::vector<double>;  // ns of one launch, by sample

  // The places of buffers and the inputs are the same for both in each pair of samples, so that
  // their effect cancels out.
  void draw_batch(std::uint32_t most_samples = kMostSamples) {
    std::vector<gpu::Timed>& programs = batch_.time.programs;
    programs.clear();
    programs.push_back(ours_.timed());
    if (baseline_.kernel != nullptr) programs.push_back(theirs_.timed());
    std::uint64_t bytes = 0;
    std::uint32_t sets = 0;
    for (const gpu::Timed& timed : programs) {
      bytes = std::max(bytes, timed.program.bytes);
      sets = std::max(sets, timed.sets());
    }
    batch_.time.samples = std::min(samples_of_batch(bytes, arena_bytes_), most_samples);
    draw(check_.pool(batch_.time.samples * sets, random_), arena_bytes_, random_, &batch_);
  }

  // ---- one batch

  // Times the candidate, and a baseline alongside it; `baseline_first` gives their order within a
  // batch. Returns false if the candidate failed: the record then contains the reason.
  bool time_candidate(bool baseline_first, Batch* ours, Batch* baseline) {
    gpu::Time request = batch_.time;
    if (!beside_) request.programs.resize(1);
    request.backwards = baseline_first;
    const auto answer = gpu_.ask_runner("time", request, runs_of(request));
    if (!answer) return failed(answer.error());
    auto batches = answer->get<std::vector<Batch>>();
    if (beside_) *baseline = std::move(batches[1]);
    *ours = std::move(batches[0]);
    if (batch_.time.kept.empty()) return true;
    return check_.passes(examination(batch_), ours_.buffers, &in_checker_);
  }

  bool failed(const RunnerFailure& failure) {
    const Blame blame = blame_of(failure, candidate_, run_);
    stop(run_.case_index, blame.verdict, "when it was timed: " + blame.why, record_);
    return false;
  }

  // Times a baseline that does not run alongside the candidate.
  Batch time_baseline() { return baseline_.reference ? time_reference() : time_in_checker(); }

  Batch time_in_checker() {
    load_in_checker(*baseline_.kernel);
    gpu::Time request = batch_.time;
    request.programs = {theirs_.timed()};
    request.kept.clear();
    return gpu_.ask_checker("time", request).get<std::vector<Batch>>().front();
  }

  void load_in_checker(const GpuCandidate& kernel) {
    if (in_checker_ == &kernel) return;
    gpu_.ask_checker("load", kernel.load());
    in_checker_ = &kernel;
  }

  Batch time_reference() {
    std::vector<std::uint64_t> seeds;
    for (std::uint32_t sample = 0; sample < batch_.time.samples; ++sample) {
      const std::size_t set = 1 + std::size_t{sample} * batch_.time.sets;
      seeds.push_back(batch_.time.inputs[set].seed);
    }
    auto ns = figures_.time_reference(seeds);
    if (!ns.empty()) return ns;
    invalid_argument(candidate_.task.definition.id +
                     ": its reference does not run on the GPU, so its time cannot be the baseline");
  }

  // ---- all batches

  bool measure_all() {
    case_.samples_ns.clear();
    case_.baseline_samples_ns.clear();
    batches_ = 0;
    ours_.launches = theirs_.launches = 1;
    if (!warm_up()) return false;
    const auto start = Clock::now();
    while (!done(start)) {
      if (!measure()) return false;
    }
    return true;
  }

  // Takes a first look at both, which decides how many launches make a sample, and counts only if a
  // kernel is far too slow to be worth more.
  bool warm_up() {
    Batch ours, baseline;
    draw_batch(kFirstSamples);
    batch_.time.kept.clear();
    if (!time_candidate(false, &ours, &baseline)) return false;
    if (baseline_.exists() && !beside_) baseline = time_baseline();
    const std::uint64_t set_bytes =
        std::max(ours_.buffers.program.bytes, theirs_.buffers.program.bytes);
    const auto launches_of = [&](const Sampled& sampled, const Batch& ns) {
      return launches_of_sample(shortest_of(ns), sampled.kernels(), set_bytes, arena_bytes_);
    };
    ours_.launches = launches_of(ours_, ours);
    const double ours_ns = ours_.launches * shortest_of(ours);
    const double pair_ns = ours_ns + (baseline.empty() ? 0 : shortest_of(baseline));
    most_samples_ = static_cast<std::uint32_t>(
        std::clamp(kLongBatchNs / std::max(pair_ns, 1.0), 1.0, 1.0 * kMostSamples));
    const bool too_slow = ours_.launches == 1 && !baseline.empty() &&
                          shortest_of(ours) > kTooSlow * shortest_of(baseline);
    fewest_ =
        too_slow ? kFirstSamples : (ours_.launches == 1 ? kFewestLongSamples : settings_.fewest);
    if (too_slow) keep(std::move(ours), std::move(baseline));
    if (too_slow || baseline_.kernel == nullptr) return true;
    theirs_.launches = launches_of(theirs_, baseline);
    // The first launch of a sample takes longer, which counts less among many.
    const std::uint32_t fewer = std::min(ours_.launches, theirs_.launches);
    if (std::max(ours_.launches, theirs_.launches) < 2 * fewer) {
      ours_.launches = theirs_.launches = fewer;
    }
    return true;
  }

  // A batch of each. Every other one that counts in the other order, so that a drift of the clocks
  // cancels out; the candidate cannot predict which comes first.
  bool measure() {
    Batch ours, baseline;
    draw_batch(most_samples_);
    const bool apart = baseline_.exists() && !beside_;
    const bool baseline_first = in_both_orders() == even_batches_begin_with_baseline_;
    if (apart && baseline_first) baseline = time_baseline();
    if (!time_candidate(baseline_first, &ours, &baseline)) return false;
    if (apart && !baseline_first) baseline = time_baseline();
    if (clock_moved() && dropped_ < kMostDroppedBatches) {
      ++dropped_;
      return true;
    }
    ++batches_;
    keep(std::move(ours), std::move(baseline));
    return true;
  }

  void keep(Batch ours, Batch baseline) {
    append(std::move(ours), &case_.samples_ns);
    append(std::move(baseline), &case_.baseline_samples_ns);
  }

  // A candidate's code could have reached the baseline alongside it, and made it slower.
  bool baseline_is_itself() {
    const double kernels = static_cast<double>(theirs_.kernels());
    const double seen =
        median_of(case_.baseline_samples_ns) - kernels * gpu_.launch_difference_ns();
    const auto is_no_slower_than = [&](double ns) {
      return seen <= (1 + kSameTime) * ns + kSameLaunchNs * kernels;
    };
    const std::string key = figures_.key_of(baseline_.digest);
    const auto known = gpu_.baseline_ns().find(key);
    if (known != gpu_.baseline_ns().end() && is_no_slower_than(known->second)) return true;
    return is_no_slower_than(gpu_.baseline_ns()[key] = median_of(time_in_checker()));
  }

  bool clock_moved() {
    const double before = std::exchange(clock_mhz_, gpu_.clock_mhz());
    return before > 0 && std::fabs(clock_mhz_ / before - 1) > kClockTolerance;
  }

  // True if as many batches ran in one order as in the other. This concerns two processes; for two
  // kernels side by side, the order changes within a batch.
  bool in_both_orders() const { return batches_ % 2 == 0; }

  bool done(Clock::time_point start) const {
    const std::size_t n = case_.samples_ns.size();
    if (n < fewest_ || (!beside_ && !in_both_orders())) return false;
    if (n >= settings_.most) return true;
    const Clock::duration spent = Clock::now() - start;
    const bool is_worth_more = baseline_.exists() && fewest_ > kFirstSamples;
    if (!is_worth_more && spent >= settings_.limit) return true;
    return baseline_.exists() && settings_.is_enough(ratio().half_width(), spent);
  }

  LogRatio ratio() const {
    return log_ratio(case_.baseline_samples_ns, case_.samples_ns).widened(kLoadError);
  }

  void report() {
    case_.time_ns = median_of(case_.samples_ns);
    const auto index = static_cast<std::int32_t>(run_.case_index);
    record_->values.push_back(
        {index, "time_samples", "", static_cast<double>(case_.samples_ns.size())});
    record_->values.push_back(
        {index, "launches_per_sample", "", static_cast<double>(ours_.launches)});
    if (baseline_.kernel != nullptr) {
      record_->values.push_back({index, "baseline_beside", "", beside_ ? 1.0 : 0.0});
    }
    figures_.add(
        baseline_.reference ? median_of(case_.baseline_samples_ns) : figures_.reference_ns(random_),
        record_);
    if (clock_mhz_ > 0) record_->values.push_back({index, "sm_clock", "MHz", clock_mhz_});
    if (baseline_.exists()) {
      const LogRatio measured = ratio();
      case_.baseline_ns = median_of(case_.baseline_samples_ns);
      case_.speedup = std::exp(measured.median);
      case_.speedup_low = std::exp(measured.low);
      case_.speedup_high = std::exp(measured.high);
    }
    const std::string why =
        figures_.faster_than_possible(case_.time_ns, ours_.kernels(), baseline_.trusted);
    if (!why.empty()) {
      stop(run_.case_index, Verdict::kFlagged, why, record_);
    }
  }

  Gpu& gpu_;
  const GpuCandidate& candidate_;
  const PlannedRun& run_;
  const TimingSettings& settings_;
  EvaluationRecord* const record_;
  Case& case_;
  const GpuBaseline& baseline_;
  const std::uint64_t arena_bytes_;
  bool beside_;  // is the baseline timed in the candidate's process?
  const CaseFigures figures_;
  LaunchCheck check_;
  // The candidate whose code is loaded there; null: unknown.
  const GpuCandidate* in_checker_ = nullptr;
  Sampled ours_, theirs_;
  LaunchBatch batch_;
  std::mt19937_64 random_{secret_number()};
  const bool even_batches_begin_with_baseline_ = random_() % 2 == 0;
  std::uint32_t most_samples_ = kMostSamples;  // samples per batch
  std::size_t fewest_ = 0;                     // samples
  std::size_t batches_ = 0;                    // counted batches
  double clock_mhz_ = 0;
  int dropped_ = 0;
};

// Loads the candidate again: values in its own variables are gone. A baseline comes
// alongside it, so that the launches of both cost the same.
bool load(Gpu& gpu, const GpuCandidate& candidate, const GpuBaseline& baseline,
          const PlannedRun& run, EvaluationRecord* record) {
  auto loaded = gpu.ask_runner("load", candidate.load());
  if (loaded && baseline.kernel != nullptr) {
    gpu::Load beside = baseline.kernel->load();
    beside.beside = true;
    loaded = gpu.ask_runner("load", beside);
  }
  if (loaded) return true;
  const Blame blame = blame_of(loaded.error(), candidate, run);
  stop(run.case_index, blame.verdict, blame.why, record);
  return false;
}

}  // namespace

std::chrono::milliseconds run_limit(Gpu& gpu, const GpuCandidate& trusted,
                                    const std::vector<PlannedRun>& runs) {
  const auto known = gpu.baseline_ns().find(trusted.task.digest);
  double slowest_ns = known == gpu.baseline_ns().end() ? 0 : known->second;
  if (slowest_ns == 0) {
    gpu.ask_checker("load", trusted.load());
    for (const PlannedRun& run : runs) {
      if (!run.counted) continue;
      gpu::Time once;
      once.programs = {{trusted.buffers(run.case_index).program}};
      once.samples = once.sets = 1;
      once.places = {0, 0};
      once.inputs = {{run.seed}, {run.seed}};
      once.poisons = {0, 1};
      const auto ns = gpu.ask_checker("time", once).get<std::vector<std::vector<double>>>();
      slowest_ns = std::max(slowest_ns, ns.front().front());
    }
    gpu.baseline_ns()[trusted.task.digest] = slowest_ns;
  }
  return kLeastRunLimit +
         std::chrono::milliseconds(static_cast<std::int64_t>(kMostSlowdown * slowest_ns * 1e-6));
}

void time_on_gpu(Gpu& gpu, const GpuCandidate& candidate, const GpuBaseline& baseline,
                 const std::vector<PlannedRun>& runs, const TimingSettings& settings,
                 EvaluationRecord* record) {
  if (!load(gpu, candidate, baseline, runs.front(), record)) return;
  with_runner(gpu, [&] {
    for (const PlannedRun& run : runs) {
      if (!run.counted || record->verdict != Verdict::kOk) continue;
      CaseTimer(gpu, candidate, baseline, run, settings, record).time();
    }
  });
}

}  // namespace krl::cuda
