#include "plugins/backends/cuda/gpu/timing.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/values.hpp>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/cuda/gpu/wall_clock.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/timing/log_ratio.hpp"

namespace krl {
namespace {

constexpr std::size_t kBatch = 8;     // samples of each that are enqueued at once
constexpr double kSampleNs = 80'000;  // shorter kernels are timed several launches a sample
// Of a sample. The host takes 3 to 4 us to enqueue one, the GPU 2 us and more to do it, and 50 us
// for what comes before each sample: with more launches it would wait for the host.
constexpr std::size_t kMostLaunches = 32;
constexpr std::uint64_t kMostSetBytes = 64 << 20;  // of a sample, as its inputs must be drawn
constexpr std::uint64_t kPlace = 4096;    // the buffers of a sample begin at a multiple of it
constexpr double kClockTolerance = 0.01;  // of the SM clock, from batch to batch
constexpr int kMostDroppedBatches = 3;
constexpr double kLightSpeed = 0.9;  // of the least time that moving the data can take
// How far a baseline's time in the candidate's process may be from that in the checker: on an H200
// launches differ by up to 0.15 us from process to process, whatever they launch.
constexpr double kSameTime = 0.03, kSameLaunchNs = 200;
// By what the logarithms of two kernels' times differ though their code is the same, from one
// loading of it to the next: on an H200 0.002 at the median, 0.005 in one of ten. With it, the
// interval that the samples give for 90 % holds the truth in more than 95 % (bench/README.md).
constexpr double kLoadError = 0.004;

// Rounding and event resolution can make a time 0; a nanosecond is below any kernel's.
void append(std::vector<double> more, std::vector<double>* samples) {
  for (const double ns : more) samples->push_back(std::max(ns, 1.0));
}

double shortest_of(const std::vector<double>& ns) {
  return *std::min_element(ns.begin(), ns.end());
}

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// A program that is timed.
struct Timed {
  BufferSet buffers;
  std::uint32_t sets = 1;  // launches of a sample, each on a set of buffers of its own

  std::uint64_t bytes() const { return sets * buffers.program.bytes; }
  std::size_t launches() const { return std::max<std::size_t>(buffers.program.launches.size(), 1); }
  // `shortest`: that one was seen to take.
  void choose_sets(double shortest, std::uint64_t arena_bytes) {
    const auto wanted = static_cast<std::uint64_t>(kSampleNs / std::max(shortest, 1.0)) + 1;
    const std::uint64_t room = std::min(arena_bytes, kMostSetBytes) / buffers.program.bytes;
    const std::uint64_t free = std::max<std::uint64_t>(room, 2) - 1;  // beside one that is kept
    sets = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(std::min({wanted, kMostLaunches / launches(), free}), 1));
  }
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
        beside_(baseline.kernel != nullptr && !candidate.has_host()) {
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

  std::uint64_t random_below(std::uint64_t bound) { return random_() % bound; }

  // What both have in common in each pair of samples, so that it cancels out: where their buffers
  // are, anywhere in the arena but for its start, where a set may be kept; and their inputs.
  void draw_batch() {
    const auto most = [&](auto of) { return std::max<std::uint64_t>(of(ours_), of(theirs_)); };
    const std::uint64_t kept = ours_.buffers.program.bytes;
    const std::uint64_t taken = kept + most([](const Timed& t) { return t.bytes(); });
    const std::uint64_t room = arena_bytes_ > taken ? (arena_bytes_ - taken) / kPlace : 0;
    places_.resize(kBatch);
    for (std::uint64_t& place : places_) place = kept + random_below(room + 1) * kPlace;
    seeds_.resize(kBatch);
    for (std::vector<std::uint64_t>& of_sample : seeds_) {
      of_sample.resize(most([](const Timed& t) { return t.sets; }));
      std::generate(of_sample.begin(), of_sample.end(), [&] { return random_(); });
    }
  }

  gpu::Samples samples_of(const Timed& timed) const {
    gpu::Samples samples{timed.buffers.program, timed.sets, places_, {}};
    for (const std::vector<std::uint64_t>& of_sample : seeds_) {
      samples.seeds.insert(samples.seeds.end(), of_sample.begin(), of_sample.begin() + timed.sets);
    }
    return samples;
  }

  // ---- one batch

  // Of the candidate, and of a baseline beside it, whose sample is then the first of the batch or
  // not. False if the candidate failed: the record then says how.
  bool time_candidate(bool baseline_first, bool keeps, Batch* ours, Batch* baseline) {
    gpu::Time request{{samples_of(ours_)}, baseline_first, -1};
    if (beside_) request.samples.push_back(samples_of(theirs_));
    if (keeps) {
      auto& seeds = request.samples.front().seeds;
      request.keep = static_cast<std::int64_t>(random_below(seeds.size()));
      seeds[static_cast<std::size_t>(request.keep)] = run_.seed;
    }
    const auto start = Clock::now();
    const auto answer = gpu_.ask_runner("time", request);
    if (!answer) {
      const Blame blame = blame_of(answer.error(), candidate_, run_);
      stop(run_.case_index, blame.verdict, "when it was timed: " + blame.why, record_);
      return false;
    }
    auto batches = answer->get<std::vector<Batch>>();
    if (beside_) *baseline = std::move(batches[1]);
    *ours = std::move(batches[0]);
    if (!beside_) wall_clock_.candidate(since(start), total(*ours, ours_));
    return true;
  }

  // Of a baseline that is not beside the candidate.
  Batch time_baseline() {
    if (baseline_.reference) return time_reference();
    const auto start = Clock::now();
    Batch ns = time_in_checker();
    wall_clock_.baseline(since(start), total(ns, theirs_));
    return ns;
  }

  Batch time_in_checker() {
    if (!loaded_in_checker_) gpu_.ask_checker("load", baseline_.kernel->load());
    loaded_in_checker_ = true;
    const gpu::Time request{{samples_of(theirs_)}, false, -1};
    return gpu_.ask_checker("time", request).get<std::vector<Batch>>().front();
  }

  Batch time_reference() {
    const gpu::Check expected = expectation(candidate_.task, run_);
    gpu::TimeReference request{expected.reference, expected.inputs, {}};
    for (const std::vector<std::uint64_t>& of_sample : seeds_) {
      request.seeds.push_back(of_sample.front());
    }
    auto ns = gpu_.ask_checker("time_reference", request).get<Batch>();
    if (!ns.empty()) return ns;
    invalid_argument(candidate_.task.definition.id +
                     ": its reference does not run on the GPU, so its time is no baseline");
  }

  // Of all launches of a batch.
  static double total(const Batch& ns, const Timed& timed) {
    return std::accumulate(ns.begin(), ns.end(), 0.0) * timed.sets;
  }

  // ---- all batches

  bool measure_all() {
    case_.samples_ns.clear();
    case_.baseline_samples_ns.clear();
    ours_.sets = theirs_.sets = 1;
    if (!warm_up()) return false;
    const auto start = Clock::now();
    kept_batch_ = random_below(settings_.fewest / kBatch);
    for (std::size_t batch = 0; !done(start); ++batch) {
      if (!measure(batch)) return false;
    }
    return true;
  }

  // A first look at both, unmeasured, which also says how many launches make a sample.
  bool warm_up() {
    Batch ours, baseline;
    draw_batch();
    if (!time_candidate(false, false, &ours, &baseline)) return false;
    if (baseline_.exists() && !beside_) baseline = time_baseline();
    ours_.choose_sets(shortest_of(ours), arena_bytes_);
    if (baseline_.kernel != nullptr) {
      theirs_.choose_sets(shortest_of(baseline), arena_bytes_);
      // The first launch of a sample takes longer, which counts less among many. And with host
      // code, our clock compares what batches of both take beside their launches.
      const std::uint32_t fewer = std::min(ours_.sets, theirs_.sets);
      const std::uint32_t more = std::max(ours_.sets, theirs_.sets);
      if (more < 2 * fewer || candidate_.has_host()) ours_.sets = theirs_.sets = fewer;
    }
    wall_clock_ = {};  // of other batches than those that follow
    return true;
  }

  // A batch of each. Every other one that counts in the other order, so that a drift of the clocks
  // cancels out; which comes first, the candidate cannot know.
  bool measure(std::size_t batch) {
    const bool keeps = batch == kept_batch_;
    Batch ours, baseline;
    draw_batch();
    const bool apart = baseline_.exists() && !beside_;
    const bool baseline_first = in_both_orders() == even_batches_begin_with_baseline_;
    if (apart && baseline_first) baseline = time_baseline();
    if (!time_candidate(baseline_first, keeps, &ours, &baseline)) return false;
    if (keeps && !kept_output_is_right()) return false;
    if (apart && !baseline_first) baseline = time_baseline();
    if (clock_moved() && dropped_ < kMostDroppedBatches) {
      ++dropped_;
      return true;
    }
    append(std::move(ours), &case_.samples_ns);
    append(std::move(baseline), &case_.baseline_samples_ns);
    return true;
  }

  // A candidate's code could have reached the baseline beside it, and made it slower.
  bool baseline_is_itself() {
    const double seen = median_of(case_.baseline_samples_ns);
    const auto is_near = [&](double ns) {
      const double launch_ns = kSameLaunchNs * static_cast<double>(theirs_.launches());
      return std::fabs(seen - ns) <= kSameTime * ns + launch_ns;
    };
    const std::string key =
        candidate_.task.digest + "/" + std::to_string(run_.case_index) + "/" + baseline_.digest;
    const auto known = gpu_.baseline_ns().find(key);
    if (known != gpu_.baseline_ns().end() && is_near(known->second)) return true;
    return is_near(gpu_.baseline_ns()[key] = median_of(time_in_checker()));
  }

  bool kept_output_is_right() {
    const Inspection inspection = inspect(gpu_, candidate_, ours_.buffers, run_);
    if (inspection.outside.empty() && inspection.verdict.passed) return true;
    const std::string what = inspection.outside.empty()
                                 ? inspection.verdict.detail
                                 : "it wrote outside of its buffers, " + inspection.outside;
    if (!inspection.outside.empty()) gpu_.replace_runner();
    stop(run_.case_index, KRL_VERDICT_FLAGGED,
         "right when it was checked, wrong when it was timed: " + what, record_);
    return false;
  }

  bool clock_moved() {
    const double before = std::exchange(clock_mhz_, gpu_.clock_mhz());
    return before > 0 && std::fabs(clock_mhz_ / before - 1) > kClockTolerance;
  }

  // As many batches in the one order as in the other? Of two processes, that is; of two kernels
  // side by side the order changes within a batch.
  bool in_both_orders() const { return case_.samples_ns.size() / kBatch % 2 == 0; }

  bool done(Clock::time_point start) const {
    const std::size_t n = case_.samples_ns.size();
    if (n < settings_.fewest || (!beside_ && !in_both_orders())) return false;
    if (n >= settings_.most) return true;
    // If something else has kept us waiting, some other batch will show it.
    if (!host_code_lies().empty()) return false;
    if (Clock::now() - start >= settings_.limit) return true;
    return baseline_.exists() && ratio().half_width() < settings_.target;
  }

  LogRatio ratio() const {
    return log_ratio(case_.baseline_samples_ns, case_.samples_ns).widened(kLoadError);
  }

  void report() {
    case_.time_ns = median_of(case_.samples_ns);
    const auto index = static_cast<std::int32_t>(run_.case_index);
    record_->values.push_back(
        {index, "time_samples", "", static_cast<double>(case_.samples_ns.size())});
    record_->values.push_back({index, "launches_per_sample", "", static_cast<double>(ours_.sets)});
    if (baseline_.kernel != nullptr) {
      record_->values.push_back({index, "baseline_beside", "", beside_ ? 1.0 : 0.0});
    }
    report_transfer(index);
    if (clock_mhz_ > 0) record_->values.push_back({index, "sm_clock", "MHz", clock_mhz_});
    if (baseline_.exists()) {
      const LogRatio measured = ratio();
      case_.baseline_ns = median_of(case_.baseline_samples_ns);
      case_.speedup = std::exp(measured.median);
      case_.speedup_low = std::exp(measured.low);
      case_.speedup_high = std::exp(measured.high);
    }
    if (const std::string why = host_code_lies(); !why.empty()) {
      return stop(run_.case_index, KRL_VERDICT_FLAGGED, why, record_);
    }
    const double floor_ns = kLightSpeed * least_ns();
    if (case_.time_ns >= floor_ns) return;
    stop(run_.case_index, KRL_VERDICT_FLAGGED,
         "it took " + std::to_string(case_.time_ns) + " ns, and writing its outputs takes " +
             std::to_string(floor_ns) + " ns",
         record_);
  }

  // What a caller with its data on the host would wait for besides; no part of any time above.
  void report_transfer(std::int32_t index) {
    const TaskDefinition& task = candidate_.task.definition;
    const ResolvedCase& resolved = candidate_.task.cases[run_.case_index];
    gpu::Transfer bytes;
    for (const auto& input : task.inputs) {
      bytes.to_gpu += static_cast<std::uint64_t>(resolved.find(input.name)->bytes());
    }
    for (const auto& output : task.outputs) {
      bytes.to_host += static_cast<std::uint64_t>(resolved.find(output.name)->bytes());
    }
    const auto ns = gpu_.ask_checker("transfer", bytes).get<gpu::Transfer>();
    record_->values.push_back({index, "transfer_to_gpu", "ns", static_cast<double>(ns.to_gpu)});
    record_->values.push_back({index, "transfer_to_host", "ns", static_cast<double>(ns.to_host)});
  }

  std::string host_code_lies() const {
    return candidate_.has_host() ? wall_clock_.objection(kBatch) : "";
  }

  // To write the outputs that do not fit the L2. Not every task has to read all of its inputs.
  double least_ns() const {
    double bytes = -static_cast<double>(gpu_.description().l2_bytes);
    for (const TensorDefinition& output : candidate_.task.definition.outputs) {
      bytes +=
          static_cast<double>(candidate_.task.cases[run_.case_index].find(output.name)->bytes());
    }
    return std::max(bytes, 0.0) / gpu_.description().bandwidth * 1e9;
  }

  Gpu& gpu_;
  const GpuCandidate& candidate_;
  const PlannedRun& run_;
  const TimingSettings& settings_;
  EvaluationRecord* const record_;
  CaseRecord& case_;
  const GpuBaseline& baseline_;
  const std::uint64_t arena_bytes_;
  bool beside_;  // is the baseline timed in the candidate's process?
  bool loaded_in_checker_ = false;
  Timed ours_, theirs_;
  std::vector<std::uint64_t> places_;              // of each pair of samples
  std::vector<std::vector<std::uint64_t>> seeds_;  // of its sets
  std::mt19937_64 random_{secret_number()};
  const bool even_batches_begin_with_baseline_ = random_below(2) == 0;
  std::size_t kept_batch_ = 0;
  WallClock wall_clock_;
  double clock_mhz_ = 0;
  int dropped_ = 0;
};

// Loads the candidate anew: what it has put into its own variables is gone. A baseline comes beside
// it, so that the launches of both cost the same.
bool load(Gpu& gpu, const GpuCandidate& candidate, const GpuBaseline& baseline,
          const PlannedRun& run, EvaluationRecord* record) {
  auto loaded = gpu.ask_runner("load", candidate.load());
  if (loaded && baseline.kernel != nullptr && !candidate.has_host()) {
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

void time_on_gpu(Gpu& gpu, const GpuCandidate& candidate, const GpuBaseline& baseline,
                 const std::vector<PlannedRun>& runs, const TimingSettings& settings,
                 EvaluationRecord* record) {
  if (!load(gpu, candidate, baseline, runs.front(), record)) return;
  for (const PlannedRun& run : runs) {
    if (!run.counted || record->verdict != KRL_VERDICT_OK) continue;
    CaseTimer(gpu, candidate, baseline, run, settings, record).time();
  }
}

}  // namespace krl
