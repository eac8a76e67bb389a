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

constexpr std::size_t kBatch = 8;     // samples that are enqueued at once
constexpr double kSampleNs = 60'000;  // shorter kernels are timed several launches a sample
// Of a sample: what the host enqueues in less time than the GPU takes for it.
constexpr std::size_t kMostLaunches = 24;
constexpr std::uint64_t kMostSetBytes = 64 << 20;  // of a sample, as its inputs must be drawn
constexpr std::uint64_t kPlace = 4096;    // the buffers of a sample begin at a multiple of it
constexpr double kClockTolerance = 0.01;  // of the SM clock, from batch to batch
constexpr int kMostDroppedBatches = 3;
constexpr double kLightSpeed = 0.9;  // of the least time that moving the data can take

// Rounding and event resolution can make a time 0; a nanosecond is below any kernel's.
void append(std::vector<double> more, std::vector<double>* samples) {
  for (const double ns : more) samples->push_back(std::max(ns, 1.0));
}

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

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
        buffers_(candidate.buffers(run.case_index)),
        baseline_(baseline),
        arena_bytes_(gpu.arena_bytes()) {
    if (baseline.kernel != nullptr) baseline_buffers_ = baseline.kernel->buffers(run.case_index);
  }

  void time() {
    if (!warm_up()) return;
    const auto start = Clock::now();
    kept_batch_ = random_below(settings_.fewest / kBatch);
    for (std::size_t batch = 0; !done(start); ++batch) {
      if (!measure(batch)) return;
    }
    report();
  }

 private:
  std::uint64_t random_below(std::uint64_t bound) { return random_() % bound; }

  // Anywhere in the arena, but for its start, where a set may be kept.
  gpu::Time request(const BufferSet& buffers, const std::vector<std::uint64_t>& seeds) {
    const std::uint64_t set_bytes = buffers.program.bytes;
    const std::uint64_t taken = (sets_ + 1) * set_bytes;
    const std::uint64_t room = arena_bytes_ > taken ? (arena_bytes_ - taken) / kPlace : 0;
    std::vector<std::uint64_t> places(seeds.size() / sets_);
    for (std::uint64_t& place : places) place = set_bytes + random_below(room + 1) * kPlace;
    return {buffers.program, sets_, places, seeds, -1};
  }

  std::vector<std::uint64_t> fresh_seeds(std::size_t samples) {
    std::vector<std::uint64_t> seeds(samples * sets_);
    std::generate(seeds.begin(), seeds.end(), [&] { return random_(); });
    return seeds;
  }

  // False if the candidate failed: the record then says how.
  bool time_candidate(const gpu::Time& request, std::vector<double>* ns) {
    const auto start = Clock::now();
    const auto answer = gpu_.ask_runner("time", request);
    if (answer) {
      *ns = answer->get<std::vector<double>>();
      wall_clock_.candidate(since(start), total(*ns));
      return true;
    }
    const Blame blame = blame_of(answer.error(), candidate_, run_);
    stop(run_.case_index, blame.verdict, "when it was timed: " + blame.why, record_);
    return false;
  }

  std::vector<double> time_baseline(const std::vector<std::uint64_t>& seeds) {
    if (baseline_.reference) return time_reference(seeds);
    const auto start = Clock::now();
    auto ns =
        gpu_.ask_checker("time", request(baseline_buffers_, seeds)).get<std::vector<double>>();
    wall_clock_.baseline(since(start), total(ns));
    return ns;
  }

  std::vector<double> time_reference(const std::vector<std::uint64_t>& seeds) {
    const gpu::Check expected = expectation(candidate_.task, run_);
    gpu::TimeReference request{expected.reference, expected.inputs, {}};
    for (std::size_t s = 0; s < seeds.size(); s += sets_) request.seeds.push_back(seeds[s]);
    auto ns = gpu_.ask_checker("time_reference", request).get<std::vector<double>>();
    if (!ns.empty()) return ns;
    invalid_argument(candidate_.task.definition.id +
                     ": its reference does not run on the GPU, so its time is no baseline");
  }

  // Of all launches of a batch.
  double total(const std::vector<double>& ns) const {
    return std::accumulate(ns.begin(), ns.end(), 0.0) * sets_;
  }

  // A first look at both, unmeasured, which also says how many launches make a sample.
  bool warm_up() {
    std::vector<double> ns;
    const auto seeds = fresh_seeds(kBatch);
    if (!time_candidate(request(buffers_, seeds), &ns)) return false;
    double shortest = *std::min_element(ns.begin(), ns.end());
    std::uint64_t set_bytes = buffers_.program.bytes;
    std::size_t launches = std::max<std::size_t>(buffers_.program.launches.size(), 1);
    if (baseline_.exists()) ns = time_baseline(seeds);
    if (baseline_.kernel != nullptr) {
      shortest = std::min(shortest, *std::min_element(ns.begin(), ns.end()));
      set_bytes = std::max(set_bytes, baseline_buffers_.program.bytes);
      launches = std::max(launches, baseline_buffers_.program.launches.size());
    }
    const auto wanted = static_cast<std::uint64_t>(kSampleNs / std::max(shortest, 1.0)) + 1;
    const std::uint64_t room = std::min(arena_bytes_, kMostSetBytes) / set_bytes;
    sets_ = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(std::min({wanted, kMostLaunches / launches, room}), 1));
    wall_clock_ = {};  // of other batches than those that follow
    return true;
  }

  // A batch of each. Every other one in the other order, so that a drift of the clocks cancels out;
  // which comes first, the candidate cannot know.
  bool measure(std::size_t batch) {
    const bool keeps = batch == kept_batch_;
    auto seeds = fresh_seeds(kBatch);
    gpu::Time of_candidate = request(buffers_, seeds);
    if (keeps) {
      of_candidate.keep = static_cast<std::int64_t>(random_below(seeds.size()));
      of_candidate.seeds[static_cast<std::size_t>(of_candidate.keep)] = run_.seed;
    }
    std::vector<double> ours, baseline;
    const bool baseline_first = (batch % 2 == 0) == even_batches_begin_with_baseline_;
    if (baseline_.exists() && baseline_first) baseline = time_baseline(seeds);
    if (!time_candidate(of_candidate, &ours)) return false;
    if (keeps && !kept_output_is_right()) return false;
    if (baseline_.exists() && !baseline_first) baseline = time_baseline(seeds);
    if (clock_moved() && dropped_ < kMostDroppedBatches) {
      ++dropped_;
      return true;
    }
    append(std::move(ours), &case_.samples_ns);
    append(std::move(baseline), &case_.baseline_samples_ns);
    return true;
  }

  bool kept_output_is_right() {
    const Inspection inspection = inspect(gpu_, candidate_, buffers_, run_);
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

  bool done(Clock::time_point start) const {
    const std::size_t n = case_.samples_ns.size();
    if (n < settings_.fewest) return false;
    if (n >= settings_.most) return true;
    // If something else has kept us waiting, some other batch will show it.
    if (!host_code_lies().empty()) return false;
    if (Clock::now() - start >= settings_.limit) return true;
    return baseline_.exists() &&
           log_ratio(case_.baseline_samples_ns, case_.samples_ns).half_width() < settings_.target;
  }

  void report() {
    case_.time_ns = median_of(case_.samples_ns);
    const auto index = static_cast<std::int32_t>(run_.case_index);
    record_->values.push_back(
        {index, "time_samples", "", static_cast<double>(case_.samples_ns.size())});
    record_->values.push_back({index, "launches_per_sample", "", static_cast<double>(sets_)});
    report_transfer(index);
    if (clock_mhz_ > 0) record_->values.push_back({index, "sm_clock", "MHz", clock_mhz_});
    if (baseline_.exists()) {
      const LogRatio ratio = log_ratio(case_.baseline_samples_ns, case_.samples_ns);
      case_.baseline_ns = median_of(case_.baseline_samples_ns);
      case_.speedup = std::exp(ratio.median);
      case_.speedup_low = std::exp(ratio.low);
      case_.speedup_high = std::exp(ratio.high);
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
  const BufferSet buffers_;
  const GpuBaseline& baseline_;
  const std::uint64_t arena_bytes_;
  BufferSet baseline_buffers_;
  std::mt19937_64 random_{secret_number()};
  std::uint32_t sets_ = 1;
  const bool even_batches_begin_with_baseline_ = random_below(2) == 0;
  std::size_t kept_batch_ = 0;
  WallClock wall_clock_;
  double clock_mhz_ = 0;
  int dropped_ = 0;
};

// Loads both anew: what the candidate has put into its own variables is gone.
bool load(Gpu& gpu, const GpuCandidate& candidate, const GpuBaseline& baseline,
          const PlannedRun& run, EvaluationRecord* record) {
  if (baseline.kernel != nullptr) gpu.ask_checker("load", baseline.kernel->load());
  const auto loaded = gpu.ask_runner("load", candidate.load());
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
