#include "plugins/backends/cpu/plugin/cpu_executor.hpp"

#include <kernelrl/proof_stage.h>

#include <algorithm>
#include <kernelrl/cuda_source.hpp>

#include "plugins/backends/cpu/plugin/judge.hpp"
#include "plugins/backends/cpu/plugin/proof_digests.hpp"
#include "plugins/backends/cpu/plugin/side_by_side.hpp"
#include "plugins/backends/cpu/plugin/work_growth.hpp"
#include "plugins/backends/evaluator/candidate/fresh_launches.hpp"
#include "plugins/backends/evaluator/check/proof_plan.hpp"
#include "plugins/files/file.hpp"

namespace krl::cpu {
using namespace compiled;
using namespace evaluator;
namespace {

// Changes whenever the meaning of cached values changes.
constexpr std::string_view kCacheSchema = "kernelrl/cpu/8";

constexpr std::uint64_t kDataBytes = 512 << 20, kBaselineBytes = 8 << 20, kWorksBytes = 1 << 20;

// A kernel may always execute this many times the warp instructions of the naive one: two warps for
// each of its threads.
constexpr std::uint64_t kMostWork = 64;

// Files that the oracle's process loads. libtorch asks Linux about processors.
std::vector<std::string> oracle_files(const std::string& wheels) {
  return with_system_libraries({wheels, "/proc/cpuinfo", "/proc/self", "/sys/devices/system/cpu"});
}

bool is_proof(const Attempt& attempt) { return (attempt.request.stages & KRL_STAGE_PROOF) != 0; }

std::vector<PlannedRun> without(const std::set<std::size_t>& cases, std::vector<PlannedRun> plan) {
  std::erase_if(plan, [&](const PlannedRun& run) { return cases.count(run.case_index) > 0; });
  return plan;
}

// Fails a candidate that cannot be launched at a size at which the machine does not run it.
void settle_launches(const Attempt& attempt) {
  if (!attempt.ok()) return;
  auto obstacle = launch_obstacle(attempt.task, attempt.builder.target(), attempt.built);
  if (!obstacle) return;
  Case& found = attempt.record->cases.emplace_back();
  found.kind = CaseKind::kFresh;
  found.label = std::move(obstacle->first);
  found.verdict = Verdict::kLaunchError;
  found.detail = std::move(obstacle->second);
  attempt.record->fail(Verdict::kLaunchError, named(found) + ": " + found.detail);
}

}  // namespace

CpuExecutor::CpuExecutor(const CpuSettings& settings, const Installation& installation)
    : settings_(settings),
      installation_(installation),
      time_(settings.gpu),
      machine_{installation.launcher, installation.machine, settings.memory_bytes,
               settings.run_limit,    settings.work_limit,  time_.max_shared_bytes(),
               time_.path_clocks()},
      oracle_(
          {installation.launcher, installation.oracle, oracle_files(installation.files.wheels())}),
      data_(oracle_, kDataBytes),
      baselines_(kBaselineBytes),
      works_(kWorksBytes) {}

std::string CpuExecutor::identity(const CudaCompiler& compiler,
                                  const EvaluatorSettings& settings) const {
  files::Digest digest;
  digest.add(kCacheSchema).add(compiler.identity).add(settings_.gpu);
  digest.add(settings_.memory_bytes).add(settings_.work_limit).add(settings.runs_per_case);
  digest.add(static_cast<std::uint64_t>(settings.protocol));
  for (const std::string& file : {installation_.machine, installation_.oracle}) {
    digest.add(files::read_file_or_empty(file));
  }
  return digest.hex();
}

// In a proof, adds values for comparing candidates; if nothing runs, also the code itself.
void CpuExecutor::examine(const Attempt& attempt) {
  if (!attempt.ok() || !is_proof(attempt)) return;
  attempt.record->values.push_back(code_digest(attempt.text.scanned, attempt.module().ptx));
  if (!attempt.request.executes()) attempt.record->compile_log = attempt.module().ptx;
}

void CpuExecutor::execute(const Attempt& attempt) {
  if (is_proof(attempt)) return prove(attempt);
  auto runs = run(attempt, attempt.runs);
  if (!runs) return;
  const auto slow = slow_shapes(attempt, *runs);
  if (!slow.empty()) runs = run(attempt, without(slow, attempt.runs));
  if (!runs) return;
  judge_or_blame_order(attempt, *runs);
  for (const std::size_t c : slow) {
    Case& left_out = attempt.record->cases[c];
    if (left_out.verdict == Verdict::kOk)
      left_out.detail = "left out: too much work, as the kernel is slow";
  }
  settle_fresh_cases(attempt.task, attempt.obstacles, attempt.record);
  settle_launches(attempt);
  run_side_by_side(attempt, *runs);
  if ((attempt.request.stages & (KRL_STAGE_TIME | KRL_STAGE_COUNTERS)) != 0)
    add_times(attempt, *runs);
}

// Executes some runs at a time, since all of them do not fit the machine's memory.
void CpuExecutor::prove(const Attempt& attempt) {
  constexpr std::size_t kRunsAtATime = 48;
  std::vector<PlannedRun> plan = plan_proof(attempt.task, attempt.request.seed);
  std::erase_if(plan,
                [&](const PlannedRun& r) { return attempt.obstacles.count(r.case_index) > 0; });
  OutputDigest digest;
  for (auto first = plan.begin(); first != plan.end() && attempt.ok();) {
    std::vector<PlannedRun> part;
    while (first != plan.end() && part.size() < kRunsAtATime) {
      part.push_back(*first);
      if (part.size() > 1 && !has_room(attempt.task, part)) {
        part.pop_back();
        break;
      }
      ++first;
    }
    const auto runs = run(attempt, part);
    if (!runs) return;
    judge_or_blame_order(attempt, *runs);
    run_side_by_side(attempt, *runs);
    digest.add(attempt.task, *runs);
  }
  if (attempt.ok()) attempt.record->values.push_back(digest.value());
  settle_fresh_cases(attempt.task, attempt.obstacles, attempt.record);
  settle_launches(attempt);
}

std::unique_ptr<MachineRuns> CpuExecutor::run(const Attempt& attempt,
                                              const std::vector<PlannedRun>& plan) {
  const PreparedTask& task = attempt.task;
  require_room(task, plan);
  std::vector<MachineRun> planned;
  for (const PlannedRun& run : plan) planned.push_back({run, data_.get(task, run)});
  auto runs = std::make_unique<MachineRuns>(task, attempt.schedule(), std::move(planned),
                                            mix_seed(attempt.request.seed, "order"));
  const AssembledKernels kernels = assembled_kernels(attempt.built.compiled->kernels);
  const auto resident = [&](const Launch& launch) {
    return time_.resident_blocks(launch, kernels.at(launch.kernel));
  };
  const CompiledModule& module = attempt.module();
  MachineOptions options = machine_;
  while (runs->execute(options, {module.ptx, module.names, resident}, attempt.cancelled)) {
    const auto& fault = runs->result().fault;
    if (!fault || fault->kind != FaultKind::kWorkLimit) return runs;
    const std::uint64_t most = kMostWork * naive_work(attempt, runs->runs()[fault->run].plan);
    if (most <= options.work_limit) return runs;
    options.work_limit = most;
  }
  attempt.record->fail(runs->verdict(), runs->why());
  attempt.record->repeatable = false;
  return nullptr;
}

std::uint64_t CpuExecutor::naive_work(const Attempt& attempt, const PlannedRun& plan) {
  const PreparedTask& task = attempt.task;
  const std::string key = task.digest + "/" + task.cases[plan.case_index].label;
  return *works_.get(key, [&] {
    const auto done = [&](std::uint64_t work) { return std::pair(work, sizeof work + key.size()); };
    const std::string& source = task.definition.naive;
    if (source.empty()) return done(0);
    EvaluationRecord ignored;
    auto naive = attempt.builder.build(task, {source, scan_candidate(source)}, task.n_known(),
                                       attempt.cancelled, &ignored);
    if (!naive) return done(0);
    if (add_fresh_launches(task, attempt.builder.target(), &*naive).count(plan.case_index) > 0)
      return done(0);
    MachineRuns runs(task, naive->schedule, {{plan, data_.get(task, plan)}},
                     mix_seed(attempt.request.seed, "order"));
    MachineOptions options = machine_;
    options.work_limit *= kMostWork;
    if (!runs.execute(options, {naive->module().ptx, naive->module().names}, attempt.cancelled))
      return done(0);
    return done(runs.result().fault ? 0 : runs.result().work);
  });
}

std::set<std::size_t> CpuExecutor::slow_shapes(const Attempt& attempt, const MachineRuns& runs) {
  const auto& fault = runs.result().fault;
  if (!fault || fault->kind != FaultKind::kWorkLimit) return {};
  const PreparedTask& task = attempt.task;
  const WorkGrowth growth(task, runs);
  std::set<std::size_t> slow;
  for (const MachineRun& run : runs.runs()) {
    const std::size_t c = run.plan.case_index;
    if (task.kind_of(c) != CaseKind::kFresh) continue;
    const double most = growth.most_at(task.cases[c]);
    if (most < static_cast<double>(machine_.work_limit)) continue;
    const std::uint64_t naive = naive_work(attempt, run.plan);
    if (most >= static_cast<double>(kMostWork * naive)) slow.insert(c);
  }
  const bool explains = slow.count(runs.runs()[fault->run].plan.case_index) > 0;
  return explains ? slow : std::set<std::size_t>();
}

// Judges; of a wrong result, whether the order of blocks or threads is why.
void CpuExecutor::judge_or_blame_order(const Attempt& attempt, const MachineRuns& runs) {
  const auto wrong = judge(attempt.task, attempt.schedule(), runs, attempt.record);
  if (attempt.record->verdict != Verdict::kWrongResult || !wrong) return;
  if (!depends_on_order(attempt, runs.runs()[*wrong].plan)) return;
  attempt.record->verdict = Verdict::kNondeterministic;
  attempt.record->why =
      "the result depends on the order of blocks or threads; " + attempt.record->why;
}

// A right result may be wrong at another schedule, where warps met.
void CpuExecutor::run_side_by_side(const Attempt& attempt, const MachineRuns& runs) {
  const PreparedTask& task = attempt.task;
  if (!attempt.ok() || task.protocol == Protocol::kKernelBench) return;
  // Threads that repeat what others do may race as long as no order changes anything: in every case.
  const std::size_t cases =
      attempt.schedule().redundant_threads ? task.cases.size() : task.n_known();
  Encounters encounters;
  encounters.add(runs, cases);
  for (const auto runs_of : {&Encounters::in_lockstep, &Encounters::with_hold_ups}) {
    auto plan = (encounters.*runs_of)();
    while (!has_room(task, plan)) plan.pop_back();
    if (plan.empty() || !attempt.ok()) break;
    const auto again = run(attempt, plan);
    if (!again) return;
    encounters.add(*again, cases);
    judge(task, attempt.schedule(), *again, attempt.record);
  }
  EvaluationRecord& record = *attempt.record;
  if (record.verdict == Verdict::kWrongResult) {
    record.verdict = Verdict::kNondeterministic;
    record.why = encounters.description() + "; " + record.why;
  } else if (record.verdict != Verdict::kOk) {
    record.why = "where blocks run side by side: " + record.why;
  }
}

// A wrong result may be right in another order: the same inputs once more, in each.
bool CpuExecutor::depends_on_order(const Attempt& attempt, const PlannedRun& wrong) {
  std::vector<PlannedRun> plan;
  for (const RunOrder order : {RunOrder::kForward, RunOrder::kReversed, RunOrder::kShuffled}) {
    plan.push_back(wrong);
    plan.back().order = order;
    plan.back().counted = false;
  }
  EvaluationRecord ignored;
  Attempt again = attempt;
  again.record = &ignored;
  const auto runs = run(again, plan);
  if (!runs) return false;
  std::size_t passed = 0;
  const std::size_t finished = runs->result().runs.size();
  for (std::size_t r = 0; r < finished; ++r)
    passed += judge_run(attempt.task, *runs, r).passed ? 1 : 0;
  return passed > 0 && passed < plan.size();
}

std::shared_ptr<const CpuExecutor::Baseline> CpuExecutor::baseline(const Attempt& attempt,
                                                                   std::uint64_t seed) {
  const PreparedTask& task = attempt.task;
  const std::string key = task.digest + "/" + std::to_string(seed);
  return baselines_.get(key, [&] {
    Baseline result;
    const std::size_t bytes = sizeof result + 2 * task.n_cases * sizeof(double) + key.size();
    if (task.definition.naive.empty()) return std::pair(std::move(result), bytes);
    EvaluationRecord record;
    EvaluationRequest request = attempt.request;
    request.seed = seed;
    Attempt naive{attempt.builder, task, request, attempt.cancelled, &record};
    naive.built = attempt.builder.build_trusted(task, task.definition.naive, "naive kernel",
                                                attempt.cancelled);
    const auto runs = run(naive, plan_counted(task.n_cases, seed));
    if (!runs || judge(task, naive.schedule(), *runs, &record) || !naive.ok())
      invalid_argument(task.definition.id + ": the naive kernel fails: " + record.why);
    const AssembledKernels kernels = assembled_kernels(naive.built.compiled->kernels);
    for (const auto& launches : runs->result().runs) {
      result.time_ns.push_back(time_.run_ns(launches, kernels));
      result.loaded_bytes.push_back(time_.loaded_bytes(launches));
    }
    return std::pair(std::move(result), bytes);
  });
}

void CpuExecutor::add_times(const Attempt& attempt, const MachineRuns& runs) {
  const PreparedTask& task = attempt.task;
  EvaluationRecord& record = *attempt.record;
  const RunSeeds seeds = attempt.request.run_seeds(task.digest);
  const bool shares = task.protocol == Protocol::kKernelBench;
  const auto base = baseline(attempt, shares ? seeds.shared : seeds.own);
  const AssembledKernels kernels = assembled_kernels(attempt.built.compiled->kernels);
  for (std::size_t r = 0; r < runs.result().runs.size(); ++r) {
    const PlannedRun& plan = runs.runs()[r].plan;
    if (!plan.counted) continue;
    const ResolvedCase& resolved = task.cases[plan.case_index];
    const auto index = static_cast<std::int32_t>(plan.case_index);
    Case& c = record.cases[plan.case_index];
    const auto& launches = runs.result().runs[r];
    time_.add_values(launches, kernels, index, &record.values);
    if (c.verdict != Verdict::kOk) continue;
    c.time_ns = time_.run_ns(launches, kernels);
    record.values.push_back(
        {index, std::string(kRoofline), "", least_ns(resolved, time_.peaks()) / c.time_ns});
    if (plan.case_index >= base->time_ns.size()) continue;
    c.baseline_ns = base->time_ns[plan.case_index];
    c.speedup = c.speedup_low = c.speedup_high = c.baseline_ns / c.time_ns;
    std::string doubt =
        time_.doubt(resolved, launches, c.time_ns, base->loaded_bytes[plan.case_index]);
    if (doubt.empty()) continue;
    c.verdict = Verdict::kFlagged;
    c.detail = std::move(doubt);
    record.fail(Verdict::kFlagged, c.label + ": " + c.detail);
  }
}

}  // namespace krl::cpu
