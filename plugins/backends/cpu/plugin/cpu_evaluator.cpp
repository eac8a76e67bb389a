#include "plugins/backends/cpu/plugin/cpu_evaluator.hpp"

#include <algorithm>
#include <kernelrl/launch.hpp>

#include "plugins/backends/cpu/plugin/carried_code.hpp"
#include "plugins/backends/cpu/plugin/judge.hpp"
#include "plugins/backends/cpu/plugin/proof_digests.hpp"
#include "plugins/backends/cpu/plugin/side_by_side.hpp"
#include "plugins/backends/cpu/plugin/work_growth.hpp"
#include "plugins/backends/evaluator/candidate/fresh_launches.hpp"
#include "plugins/backends/evaluator/candidate/kernel_figures.hpp"
#include "plugins/backends/evaluator/check/proof_plan.hpp"
#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/source/static_checks.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/backends/ptx/contents.hpp"
#include "plugins/backends/ptx/reader.hpp"
#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::cpu {
using namespace nvrtc;
namespace {

// Changes whenever the meaning of cached values changes.
constexpr std::string_view kCacheSchema = "kernelrl/cpu/8";

constexpr std::uint64_t kModuleBytes = 128 << 20, kDataBytes = 512 << 20, kBaselineBytes = 8 << 20,
                        kWorksBytes = 1 << 20;

// A kernel may always execute this many times the warp instructions of the naive one: two warps for
// each of its threads.
constexpr std::uint64_t kMostWork = 64;

// Files that the oracle's process loads. libtorch asks Linux about processors.
std::vector<std::string> oracle_files(const std::string& wheels) {
  return {"/usr/lib",      "/usr/lib64",       "/lib",
          "/lib64",        "/etc/ld.so.cache", wheels,
          "/proc/cpuinfo", "/proc/self",       "/sys/devices/system/cpu"};
}

CompileSettings compile_settings(const CpuSettings& settings, const ComputeCapability& gpu) {
  CompileSettings compile;
  compile.arch = gpu.arch();
  compile.cuda = settings.cuda;
  compile.compile_limit = settings.compile_limit;
  return compile;
}

std::string identity_of(const CpuSettings& s, const CudaCompiler& compiler,
                        const Installation& installation) {
  files::Digest digest;
  digest.add(kCacheSchema).add(compiler.identity).add(s.gpu);
  digest.add(s.memory_bytes).add(s.work_limit).add(s.runs_per_case);
  digest.add(static_cast<std::uint64_t>(s.protocol));
  for (const std::string& file : {installation.machine, installation.oracle}) {
    digest.add(files::read_file_or_empty(file));
  }
  return digest.hex();
}

// Returns the first construct of a candidate's code that is not allowed, or that the machine does
// not support; empty if there is none.
std::string refused_contents(const CompiledModule& module) {
  const ptx::ReadResult read = ptx::read_module(module.ptx, kSourceFile);
  if (read.problem) {
    const std::uint32_t line = read.problem->place.source;
    return "unsupported on cpu: " + read.problem->message +
           (line == 0 ? "" : " (line " + std::to_string(line) + ")");
  }
  return ptx::first_problem(read.module, module.names);
}

void leave_out_slow(Case* c) {
  if (c->verdict == Verdict::kOk) c->detail = "left out: too much work, as the kernel is slow";
}

bool is_proof(const EvaluationRequest& request) { return (request.stages & KRL_STAGE_PROOF) != 0; }

// Adds values for comparing candidates; if nothing runs, also the code itself.
void tell_code(std::string_view source, const std::string& ptx, const EvaluationRequest& request,
               EvaluationRecord* record) {
  record->values.push_back(code_digest(source, ptx));
  if (!request.executes()) record->compile_log = ptx;
}

}  // namespace

std::size_t CpuEvaluator::Compiled::bytes() const {
  return sizeof *this + output.log.size() + module.ptx.size() + module.cubin.size() +
         module.report.size();
}

CpuEvaluator::CpuEvaluator(CpuSettings settings, const Installation& installation)
    : settings_(std::move(settings)),
      time_(settings_.gpu),
      gpu_(require_arch(time_.arch())),
      compiler_(nvrtc_compiler(compile_settings(settings_, gpu_), installation.files)),
      machine_{installation.launcher, installation.machine, settings_.memory_bytes,
               settings_.run_limit,   settings_.work_limit, time_.max_shared_bytes(),
               time_.path_clocks()},
      identity_(identity_of(settings_, compiler_, installation)),
      oracle_(
          {installation.launcher, installation.oracle, oracle_files(installation.files.wheels())}),
      data_(oracle_, kDataBytes),
      tasks_(Sizes::kSmall, settings_.protocol),
      modules_(kModuleBytes),
      evaluations_(settings_.cache_folder, settings_.cache_bytes),
      baselines_(kBaselineBytes),
      works_(kWorksBytes) {}

EvaluationRecord CpuEvaluator::evaluate(const EvaluationRequest& request,
                                        const Cancelled& cancelled) {
  if (request.is_anew())
    return evaluate_new(*tasks_.get(request.definition_json), request, cancelled);
  return evaluate_once(request, cancelled);
}

EvaluationRecord CpuEvaluator::evaluate_once(const EvaluationRequest& request,
                                             const Cancelled& cancelled) {
  return *evaluations_.get(request.key(identity_), [&] {
    return evaluate_new(*tasks_.get(request.definition_json), request, cancelled);
  });
}

EvaluationRecord CpuEvaluator::evaluate_new(const PreparedTask& task,
                                            const EvaluationRequest& request,
                                            const Cancelled& cancelled) {
  EvaluationRecord record;
  record.toolchain = compiler_.name;
  record.device = time_.device();
  const PreparedTask asked = select_cases(task, request.stages, request.fresh_set(task.digest));

  const auto [source, ptx] = source_and_ptx(request);
  if (const auto problem = check_source(source, task.definition.forbid)) {
    record.fail(Verdict::kRejected, problem->text());
    return record;
  }
  auto read = schedule_of(asked, source, asked.n_known());
  // A compile error comes before an error in a directive, which would count as a step further.
  auto module = compiled(source, read ? read->kernels : std::vector<std::string>(), cancelled);
  if (!ptx.empty() && module->verdict == Verdict::kOk) module = with_ptx(*module, ptx);
  record.compile_log = module->output.log;
  record.diagnostics = module->output.diagnostics;
  if (module->verdict != Verdict::kOk) {
    record.fail(module->verdict, module->why);
    record.repeatable = module->verdict != Verdict::kTimeout;
    return record;
  }
  if (!read) {
    record.fail(Verdict::kLaunchError, described(read.error()));
    return record;
  }
  LaunchSchedule schedule = *std::move(read);
  add_kernel_figures(asked.cases, schedule, module->module, gpu_, compiler_.arch, &record);
  if (record.verdict == Verdict::kOk && is_proof(request))
    tell_code(source, module->module.ptx, request, &record);
  if (record.verdict == Verdict::kOk && request.executes()) {
    execute(task, asked, std::move(schedule), *module, request, cancelled, &record);
  }
  return record;
}

void CpuEvaluator::execute(const PreparedTask& task, const PreparedTask& asked,
                           LaunchSchedule schedule, const Compiled& module,
                           const EvaluationRequest& request, const Cancelled& cancelled,
                           EvaluationRecord* record) {
  const Obstacles obstacles =
      add_fresh_launches(asked, module.module, gpu_, compiler_.arch, &schedule);
  std::vector<PlannedRun> runs_planned = plan(asked, request);
  std::erase_if(runs_planned,
                [&](const PlannedRun& r) { return obstacles.count(r.case_index) > 0; });
  if (is_proof(request)) {
    prove(asked, schedule, std::move(runs_planned), module, request, cancelled, record);
    settle_fresh_cases(asked, obstacles, record);
    settle_launches(task, schedule, module, record);
    return;
  }
  auto runs = run(asked, schedule, runs_planned, module, request.seed, cancelled, record);
  if (!runs) return;
  const auto slow = slow_shapes(asked, *runs, request.seed, cancelled);
  if (!slow.empty()) {
    std::erase_if(runs_planned, [&](const PlannedRun& r) { return slow.count(r.case_index) > 0; });
    runs = run(asked, schedule, runs_planned, module, request.seed, cancelled, record);
    if (!runs) return;
  }
  judge_or_blame_order(asked, schedule, *runs, module, request.seed, cancelled, record);
  for (const std::size_t c : slow) leave_out_slow(&record->cases[c]);
  settle_fresh_cases(asked, obstacles, record);
  settle_launches(task, schedule, module, record);
  run_side_by_side(asked, schedule, *runs, module, request.seed, cancelled, record);
  if ((request.stages & (KRL_STAGE_TIME | KRL_STAGE_COUNTERS)) != 0) {
    const RunSeeds seeds = request.run_seeds(task.digest);
    const bool shares = task.protocol == Protocol::kKernelBench;
    const auto base = baseline(task, shares ? seeds.shared : seeds.own, cancelled);
    add_times(asked, *runs, module.kernels, *base, record);
  }
}

// Sizes at which the machine does not run it.
void CpuEvaluator::settle_launches(const PreparedTask& task, const LaunchSchedule& schedule,
                                   const Compiled& module, EvaluationRecord* record) const {
  if (record->verdict != Verdict::kOk) return;
  auto obstacle = launch_obstacle(task, schedule, module.module, gpu_, compiler_.arch);
  if (!obstacle) return;
  Case& found = record->cases.emplace_back();
  found.kind = CaseKind::kFresh;
  found.label = std::move(obstacle->first);
  found.verdict = Verdict::kLaunchError;
  found.detail = std::move(obstacle->second);
  record->fail(Verdict::kLaunchError, named(found) + ": " + found.detail);
}

// Some runs at a time, since all of them do not fit the machine's memory.
void CpuEvaluator::prove(const PreparedTask& asked, const LaunchSchedule& schedule,
                         std::vector<PlannedRun> plan, const Compiled& module,
                         const EvaluationRequest& request, const Cancelled& cancelled,
                         EvaluationRecord* record) {
  constexpr std::size_t kRunsAtATime = 48;
  OutputDigest digest;
  for (auto first = plan.begin(); first != plan.end() && record->verdict == Verdict::kOk;) {
    std::vector<PlannedRun> part;
    while (first != plan.end() && part.size() < kRunsAtATime) {
      part.push_back(*first);
      if (part.size() > 1 && !has_room(asked, part)) {
        part.pop_back();
        break;
      }
      ++first;
    }
    const auto runs = run(asked, schedule, part, module, request.seed, cancelled, record);
    if (!runs) return;
    judge_or_blame_order(asked, schedule, *runs, module, request.seed, cancelled, record);
    run_side_by_side(asked, schedule, *runs, module, request.seed, cancelled, record);
    digest.add(asked, *runs);
  }
  if (record->verdict == Verdict::kOk) record->values.push_back(digest.value());
}

Checked<LaunchSchedule, SourceError> CpuEvaluator::schedule_of(const PreparedTask& task,
                                                               std::string_view source,
                                                               std::size_t cases) const {
  return read_schedule(source, task.definition, std::span(task.cases).first(cases),
                       launch_limits(gpu_));
}

std::vector<PlannedRun> CpuEvaluator::plan(const PreparedTask& asked,
                                           const EvaluationRequest& request) const {
  if (is_proof(request)) return plan_proof(asked, request.seed);
  return plan_evaluation(asked, settings_.runs_per_case, request.run_seeds(asked.digest));
}

std::shared_ptr<const CpuEvaluator::Compiled> CpuEvaluator::compiled(
    std::string_view source, const std::vector<std::string>& kernels, const Cancelled& cancelled) {
  return modules_.get(module_key(source, kernels), [&] {
    Compiled module = compile_new(source, kernels, cancelled);
    const std::size_t bytes = module.verdict == Verdict::kTimeout ? 0 : module.bytes();
    return std::pair(std::move(module), bytes);
  });
}

CpuEvaluator::Compiled CpuEvaluator::compile_new(std::string_view source,
                                                 const std::vector<std::string>& kernels,
                                                 const Cancelled& cancelled) const {
  Compiled result;
  result.output = compiler_.compile(source, kernels, cancelled);
  const std::string bytes = std::exchange(result.output.module, {});
  const auto end_with = [&](Verdict verdict, std::string why) {
    result.verdict = verdict;
    result.why = std::move(why);
    return result;
  };
  if (result.output.end != CompileOutput::kCompiled) {
    return end_with(verdict_of(result.output.end), result.output.why);
  }
  auto module = module_from_bytes(bytes);
  if (!module || module->names.size() != kernels.size()) {
    return end_with(Verdict::kCompileError, "the compiler's output is not a valid module");
  }
  result.module = *std::move(module);
  result.kernels = assembled_kernels(result.module);
  std::string refused = refused_contents(result.module);
  return refused.empty() ? result : end_with(Verdict::kRejected, std::move(refused));
}

// The same kernels with other code.
std::shared_ptr<const CpuEvaluator::Compiled> CpuEvaluator::with_ptx(Compiled module,
                                                                     std::string_view ptx) {
  module.module.ptx = ptx;
  module.why = refused_contents(module.module);
  if (!module.why.empty()) module.verdict = Verdict::kRejected;
  return std::make_shared<const Compiled>(std::move(module));
}

std::unique_ptr<MachineRuns> CpuEvaluator::run(const PreparedTask& task,
                                               const LaunchSchedule& schedule,
                                               const std::vector<PlannedRun>& plan,
                                               const Compiled& module, std::uint64_t seed,
                                               const Cancelled& cancelled,
                                               EvaluationRecord* record) {
  require_room(task, plan);
  std::vector<MachineRun> planned;
  for (const PlannedRun& run : plan) planned.push_back({run, data_.get(task, run)});
  auto runs =
      std::make_unique<MachineRuns>(task, schedule, std::move(planned), mix_seed(seed, "order"));
  const auto resident = [&](const Launch& launch) {
    return time_.resident_blocks(launch, module.kernels.at(launch.kernel));
  };
  MachineOptions options = machine_;
  while (runs->execute(options, {module.module.ptx, module.module.names, resident}, cancelled)) {
    const auto& fault = runs->result().fault;
    if (!fault || fault->kind != FaultKind::kWorkLimit) return runs;
    const PlannedRun& stopped = runs->runs()[fault->run].plan;
    const std::uint64_t most = kMostWork * naive_work(task, stopped, seed, cancelled);
    if (most <= options.work_limit) return runs;
    options.work_limit = most;
  }
  record->fail(runs->verdict(), runs->why());
  record->repeatable = false;
  return nullptr;
}

std::uint64_t CpuEvaluator::naive_work(const PreparedTask& task, const PlannedRun& plan,
                                       std::uint64_t seed, const Cancelled& cancelled) {
  const std::string key = task.digest + "/" + task.cases[plan.case_index].label;
  return *works_.get(key, [&] {
    const auto done = [&](std::uint64_t work) { return std::pair(work, sizeof work + key.size()); };
    const std::string& naive = task.definition.naive;
    if (naive.empty()) return done(0);
    auto read = schedule_of(task, naive, task.n_known());
    if (!read) return done(0);
    LaunchSchedule schedule = *std::move(read);
    const auto module = compiled(naive, schedule.kernels, cancelled);
    if (module->verdict != Verdict::kOk) return done(0);
    if (add_fresh_launches(task, module->module, gpu_, compiler_.arch, &schedule)
            .count(plan.case_index) > 0)
      return done(0);
    MachineRuns runs(task, schedule, {{plan, data_.get(task, plan)}}, mix_seed(seed, "order"));
    MachineOptions options = machine_;
    options.work_limit *= kMostWork;
    if (!runs.execute(options, {module->module.ptx, module->module.names}, cancelled))
      return done(0);
    return done(runs.result().fault ? 0 : runs.result().work);
  });
}

std::set<std::size_t> CpuEvaluator::slow_shapes(const PreparedTask& task, const MachineRuns& runs,
                                                std::uint64_t seed, const Cancelled& cancelled) {
  const auto& fault = runs.result().fault;
  if (!fault || fault->kind != FaultKind::kWorkLimit) return {};
  const WorkGrowth growth(task, runs);
  std::set<std::size_t> slow;
  for (const MachineRun& run : runs.runs()) {
    const std::size_t c = run.plan.case_index;
    if (task.kind_of(c) != CaseKind::kFresh) continue;
    const double most = growth.most_at(task.cases[c]);
    if (most < static_cast<double>(settings_.work_limit)) continue;
    const std::uint64_t naive = naive_work(task, run.plan, seed, cancelled);
    if (most >= static_cast<double>(kMostWork * naive)) slow.insert(c);
  }
  const bool explains = slow.count(runs.runs()[fault->run].plan.case_index) > 0;
  return explains ? slow : std::set<std::size_t>();
}

// Judges; of a wrong result, whether the order of blocks or threads is why.
void CpuEvaluator::judge_or_blame_order(const PreparedTask& task, const LaunchSchedule& schedule,
                                        const MachineRuns& runs, const Compiled& module,
                                        std::uint64_t seed, const Cancelled& cancelled,
                                        EvaluationRecord* record) {
  const auto wrong = judge(task, schedule, runs, record);
  if (record->verdict != Verdict::kWrongResult || !wrong) return;
  const PlannedRun& plan = runs.runs()[*wrong].plan;
  if (!depends_on_order(task, schedule, plan, module, seed, cancelled)) return;
  record->verdict = Verdict::kNondeterministic;
  record->why = "the result depends on the order of blocks or threads; " + record->why;
}

// A right result may be wrong at another schedule, where warps met.
void CpuEvaluator::run_side_by_side(const PreparedTask& task, const LaunchSchedule& schedule,
                                    const MachineRuns& runs, const Compiled& module,
                                    std::uint64_t seed, const Cancelled& cancelled,
                                    EvaluationRecord* record) {
  if (record->verdict != Verdict::kOk || task.protocol == Protocol::kKernelBench) return;
  Encounters encounters;
  encounters.add(runs, task.n_known());
  for (const auto runs_of : {&Encounters::in_lockstep, &Encounters::with_hold_ups}) {
    auto plan = (encounters.*runs_of)();
    while (!has_room(task, plan)) plan.pop_back();
    if (plan.empty() || record->verdict != Verdict::kOk) break;
    const auto again = run(task, schedule, plan, module, seed, cancelled, record);
    if (!again) return;
    encounters.add(*again, task.n_known());
    judge(task, schedule, *again, record);
  }
  if (record->verdict == Verdict::kWrongResult) {
    record->verdict = Verdict::kNondeterministic;
    record->why = encounters.description() + "; " + record->why;
  } else if (record->verdict != Verdict::kOk) {
    record->why = "where blocks run side by side: " + record->why;
  }
}

// A wrong result may be right in another order: the same inputs once more, in each.
bool CpuEvaluator::depends_on_order(const PreparedTask& task, const LaunchSchedule& schedule,
                                    const PlannedRun& wrong, const Compiled& module,
                                    std::uint64_t seed, const Cancelled& cancelled) {
  std::vector<PlannedRun> plan;
  for (const RunOrder order : {RunOrder::kForward, RunOrder::kReversed, RunOrder::kShuffled}) {
    plan.push_back(wrong);
    plan.back().order = order;
    plan.back().counted = false;
  }
  EvaluationRecord ignored;
  const auto runs = run(task, schedule, plan, module, seed, cancelled, &ignored);
  if (!runs) return false;
  std::size_t passed = 0;
  const std::size_t finished = runs->result().runs.size();
  for (std::size_t r = 0; r < finished; ++r) passed += judge_run(task, *runs, r).passed ? 1 : 0;
  return passed > 0 && passed < plan.size();
}

std::shared_ptr<const CpuEvaluator::Baseline> CpuEvaluator::baseline(const PreparedTask& task,
                                                                     std::uint64_t seed,
                                                                     const Cancelled& cancelled) {
  const std::string key = task.digest + "/" + std::to_string(seed);
  return baselines_.get(key, [&] {
    Baseline result;
    const std::size_t bytes = sizeof result + 2 * task.n_cases * sizeof(double) + key.size();
    if (task.definition.naive.empty()) return std::pair(std::move(result), bytes);
    EvaluationRecord record;
    const auto schedule = schedule_of(task, task.definition.naive, task.n_cases);
    if (!schedule) {
      invalid_argument(task.definition.id + ": the naive kernel: " + described(schedule.error()));
    }
    const auto module = compiled(task.definition.naive, schedule->kernels, cancelled);
    if (module->verdict != Verdict::kOk) {
      invalid_argument(task.definition.id + ": the naive kernel: " + module->why);
    }
    const auto plan = plan_counted(task.n_cases, seed);
    const auto runs = run(task, *schedule, plan, *module, seed, cancelled, &record);
    if (!runs || judge(task, *schedule, *runs, &record) || record.verdict != Verdict::kOk) {
      invalid_argument(task.definition.id + ": the naive kernel fails: " + record.why);
    }
    for (const auto& launches : runs->result().runs) {
      result.time_ns.push_back(time_.run_ns(launches, module->kernels));
      result.loaded_bytes.push_back(time_.loaded_bytes(launches));
    }
    return std::pair(std::move(result), bytes);
  });
}

void CpuEvaluator::add_times(const PreparedTask& task, const MachineRuns& runs,
                             const AssembledKernels& kernels, const Baseline& baseline,
                             EvaluationRecord* record) const {
  const std::size_t finished = runs.result().runs.size();
  for (std::size_t r = 0; r < finished; ++r) {
    const PlannedRun& plan = runs.runs()[r].plan;
    if (!plan.counted) continue;
    Case& c = record->cases[plan.case_index];
    const auto& launches = runs.result().runs[r];
    time_.add_values(launches, kernels, static_cast<std::int32_t>(plan.case_index),
                     &record->values);
    if (c.verdict != Verdict::kOk) continue;
    c.time_ns = time_.run_ns(launches, kernels);
    record->values.push_back({static_cast<std::int32_t>(plan.case_index), std::string(kRoofline),
                              "",
                              least_ns(task.cases[plan.case_index], time_.peaks()) / c.time_ns});
    if (plan.case_index >= baseline.time_ns.size()) continue;
    c.baseline_ns = baseline.time_ns[plan.case_index];
    c.speedup = c.speedup_low = c.speedup_high = c.baseline_ns / c.time_ns;
    const double naive_loaded = baseline.loaded_bytes[plan.case_index];
    const double floor = time_.floor_ns(task.cases[plan.case_index], naive_loaded);
    const double least = time_.least_loaded_bytes(task.cases[plan.case_index], naive_loaded);
    const double loaded = time_.loaded_bytes(launches);
    if (loaded < least) {
      c.detail = "reads " + number_text(loaded) + " bytes of at least " + number_text(least);
    } else if (c.time_ns < floor) {
      c.detail = "estimated at " + number_text(c.time_ns) + " ns, below the " + number_text(floor) +
                 " ns that moving its data takes";
    } else {
      continue;
    }
    c.verdict = Verdict::kFlagged;
    c.detail += ": does it read all of its input?";
    record->fail(Verdict::kFlagged, c.label + ": " + c.detail);
  }
}

}  // namespace krl::cpu
