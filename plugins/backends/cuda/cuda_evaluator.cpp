#include "plugins/backends/cuda/cuda_evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_timing.hpp"
#include "plugins/backends/cuda/gpu/trials.hpp"
#include "plugins/backends/cuda/host/host_checks.hpp"
#include "plugins/backends/cuda/host/host_figures.hpp"
#include "plugins/backends/cuda/host/host_source.hpp"
#include "plugins/backends/evaluator/candidate/fresh_launches.hpp"
#include "plugins/backends/evaluator/candidate/kernel_figures.hpp"
#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/source/static_checks.hpp"
#include "plugins/backends/ptx/contents.hpp"
#include "plugins/backends/ptx/reader.hpp"
#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::cuda {
namespace {

// An allowance for host code, which also allocates and copies: no kernel's time predicts that.
constexpr std::chrono::milliseconds kHostWork{500};
// Changes whenever the meaning of cached values changes.
constexpr std::string_view kCacheSchema = "kernelrl/cuda/12";

constexpr std::uint64_t kModuleBytes = 128 << 20;
// Limits on a thread's local memory. For all threads that a GPU holds at once, the driver takes up
// to a fifth of its memory and never returns it: a process in which a candidate used more than some
// hundred MiB serves no other candidate.
constexpr std::uint32_t kMostStack = 65536, kMostStackKept = 2048;
constexpr int kAttempts = 4;
// An evaluation is restarted for this long if someone kills the GPU's processes; starting one takes
// 3 s.
constexpr std::chrono::minutes kPatience{5};

std::string device_name(const CudaCompiler& compiler, const GpuPool* gpus) {
  return gpus == nullptr ? compiler.arch + ", not executed" : gpus->description().name;
}

std::string counters_problem_of(GpuPool* gpus) {
  std::string problem = "there is no GPU";
  if (gpus != nullptr) gpus->with_gpu({}, [&](Gpu& gpu) { problem = gpu.counters().problem(); });
  return problem;
}

std::string identity_of(const CudaCompiler& compiler, const CudaSettings& settings,
                        const GpuPool* gpus, bool counters) {
  files::Digest digest;
  digest.add(kCacheSchema).add(compiler.identity).add(device_name(compiler, gpus));
  digest.add(settings.libraries);
  digest.add(settings.runs_per_case).add(std::uint64_t{settings.baseline.reference});
  digest.add(static_cast<std::uint64_t>(settings.sizes));
  digest.add(static_cast<std::uint64_t>(settings.protocol));
  for (const auto& [task, kernel] : settings.baseline.kernels) digest.add(task).add(kernel);
  if (gpus != nullptr) digest.add(gpus->identity());
  digest.add(std::uint64_t{counters});
  return digest.hex();
}

// Requires room for two sets of buffers: one that is timed and one that is kept.
void require_room(const PreparedTask& task, std::uint64_t arena_bytes) {
  for (std::size_t c = 0; c < task.cases.size(); ++c) {
    std::int64_t bytes = 0;
    for (const ResolvedTensor& tensor : task.cases[c].tensors) bytes += tensor.bytes();
    const std::int64_t needed = (2 * bytes >> 20) + 1;
    if (needed <= static_cast<std::int64_t>(arena_bytes >> 20)) continue;
    invalid_argument(located(task, c) + " needs " + std::to_string(needed) +
                     " MiB on the GPU, and arena_mb is " + std::to_string(arena_bytes >> 20) +
                     "; raise it, or make the " +
                     (task.kind_of(c) == CaseKind::kFresh ? "largest case" : "case") + " smaller" +
                     (task.is_real(c) ? "; sizes = \"small\" leaves real sizes out" : ""));
  }
}

// No one else kills a candidate's process time after time.
EvaluationRecord killed_each_time(const std::string& toolchain, const std::string& device) {
  EvaluationRecord record;
  record.toolchain = toolchain;
  record.device = device;
  record.fail(Verdict::kRuntimeFault,
              "the process of its host code was killed each time that it ran");
  record.repeatable = false;
  return record;
}

// Adds the output's size in a cache; 0 if it must not be kept.
std::pair<CompileOutput, std::size_t> with_size(CompileOutput output) {
  const bool kept = output.end != CompileOutput::kTimeout;
  const std::size_t bytes = kept ? output.module.size() + output.log.size() + sizeof output : 0;
  return {std::move(output), bytes};
}

// Returns the text of a candidate with host code, including its call by the harness, or the reason
// why there is none.
std::optional<SourceProblem> complete_host_source(std::string_view source,
                                                  const TaskDefinition& task, bool loads,
                                                  std::string* whole) {
  if (!python::is_model_answer(source)) {
    *whole = with_host_call(source, task);
    return check_host_source(source, task.forbid, loads);
  }
  if (auto problem = check_size(source)) return problem;
  const auto bound = python::bind_model_answer(source, task);
  if (!bound) return bound.error();
  *whole = with_host_call(*bound);
  return check_host_source(bound->source, task.forbid, loads);
}

// Fills in the verdict on a candidate whose compile gave no module.
void refuse(const CompileOutput& output, EvaluationRecord* record) {
  record->repeatable = output.end != CompileOutput::kTimeout;
  record->fail(verdict_of(output.end), output.why);
}

void check_stack(const CompiledModule& module, EvaluationRecord* record) {
  const std::uint32_t stack = most_stack(module.cubin, module.ptx);
  if (stack <= kMostStack) return;
  record->fail(Verdict::kResourceLimit, "a thread uses " + std::to_string(stack) +
                                            " bytes of local memory, and a GPU has " +
                                            std::to_string(kMostStack) + " for each");
}

// Returns the first construct of a candidate's PTX that is not allowed; empty if there is none.
std::string refusal(const ptx::ReadResult& code, const std::vector<std::string>& kernels) {
  return code.problem ? code.problem->text() : ptx::first_problem(code.module, kernels);
}

}  // namespace

std::map<std::string, std::string> baselines_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> kernels;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() == ".cu") kernels[file.stem()] = files::read_file_or_empty(file.string());
  }
  if (!kernels.empty()) return kernels;
  invalid_argument("baseline_folder: " + folder.string() + ": " +
                   (error ? error.message() : "no kernels TASK.cu"));
}

CudaEvaluator::CudaEvaluator(CudaCompiler compiler, const CudaSettings& settings,
                             std::unique_ptr<GpuPool> gpus)
    : compiler_(std::move(compiler)),
      settings_(settings),
      gpus_(std::move(gpus)),
      gpu_(require_arch(compiler_.arch)),
      device_(device_name(compiler_, gpus_.get())),
      counters_problem_(counters_problem_of(gpus_.get())),
      identity_(identity_of(compiler_, settings_, gpus_.get(), counters_problem_.empty())),
      tasks_(settings.sizes, settings.protocol),
      modules_(kModuleBytes),
      baselines_(kModuleBytes),
      evaluations_(settings.cache_folder, settings.cache_bytes) {}

void CudaEvaluator::prepare(const EvaluationRequest& request, const Cancelled& cancelled) {
  const auto task = tasks_.get(request.definition_json);
  EvaluationRequest naive = request;
  naive.source = task->definition.naive;
  naive.stages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;
  if (gpus_) {
    const PreparedTask asked = select_cases(*task, naive.stages, naive.fresh_set(task->digest));
    gpus_->with_gpu(cancelled, [&](Gpu& gpu) {
      require_room(asked, gpu.arena_bytes());
      if (asked.protocol == Protocol::kKernelBench) return;  // KernelBench checks no task
      auto runs = plan(asked, naive);
      for (const PlannedRun& run : runs) {
        expect_on_gpu(gpu, asked, run);
        require_telling_outputs(
            asked, run, [&](const PlannedRun& draw) { return traits_on_gpu(gpu, asked, draw); });
      }
      // An impostor that passes the small cases alone has done as little work.
      std::erase_if(runs, [&](const PlannedRun& run) {
        return asked.is_real(run.case_index) || asked.kind_of(run.case_index) == CaseKind::kFresh;
      });
      refuse_impostors(task->definition, [&](const Impostor& impostor) {
        return passes_on_gpu(gpu, asked, runs, impostor);
      });
    });
  }
  if (task->definition.naive.empty() || task->protocol == Protocol::kKernelBench) return;
  require_right_naive(task->definition, evaluate_once(naive, cancelled));
}

EvaluationRecord CudaEvaluator::evaluate(const EvaluationRequest& request,
                                         const Cancelled& cancelled) {
  return request.is_anew() ? evaluate_patiently(request, cancelled)
                           : evaluate_once(request, cancelled);
}

EvaluationRecord CudaEvaluator::evaluate_once(const EvaluationRequest& request,
                                              const Cancelled& cancelled) {
  return *evaluations_.get(request.key(identity_),
                           [&] { return evaluate_patiently(request, cancelled); });
}

EvaluationRecord CudaEvaluator::evaluate_patiently(const EvaluationRequest& request,
                                                   const Cancelled& cancelled) {
  const auto task = tasks_.get(request.definition_json);
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  for (int failed = 0;;) {
    try {
      return evaluate_new(*task, request, cancelled);
    } catch (const RunnerKilled&) {
      if (++failed == kAttempts) return killed_each_time(toolchain(), device());
    } catch (const WorkerKilled&) {
      if (std::chrono::steady_clock::now() > give_up) throw;
      if (cancelled && cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
    } catch (const Failure& failure) {  // a process of ours died: another takes its place
      if (failure.code() != KRL_UNAVAILABLE || ++failed == kAttempts) throw;
    }
  }
}

EvaluationRecord CudaEvaluator::evaluate_new(const PreparedTask& task,
                                             const EvaluationRequest& request,
                                             const Cancelled& cancelled) {
  EvaluationRecord record;
  record.toolchain = toolchain();
  record.device = device();
  std::string host;  // source of a candidate's host code, as it is compiled
  if (const auto problem = request.host ? complete_host_source(request.source, task.definition,
                                                               !settings_.libraries.empty(), &host)
                                        : check_source(request.source, task.definition.forbid)) {
    record.fail(Verdict::kRejected, problem->text());
    return record;
  }
  const PreparedTask asked = select_cases(task, request.stages, request.fresh_set(task.digest));
  auto built = request.host ? build_library(host, cancelled, &record)
                            : build(asked, request.source, asked.n_known(), cancelled, &record);
  if (!built) return record;
  if (request.host) {
    add_host_figures(built->module, compiler_.arch, &record);
  } else {
    add_kernel_figures(asked.cases, built->schedule, built->module, gpu_, compiler_.arch, &record);
    if (gpus_) check_stack(built->module, &record);
    if (record.verdict == Verdict::kOk) add_code_values(built->module, built->code, &record);
  }
  if (gpus_ && record.verdict == Verdict::kOk && request.executes()) {
    execute(asked, *std::move(built), request, cancelled, &record);
  }
  return record;
}

std::optional<CudaEvaluator::Built> CudaEvaluator::build(const PreparedTask& task,
                                                         std::string_view source, std::size_t cases,
                                                         const Cancelled& cancelled,
                                                         EvaluationRecord* record) {
  auto schedule = read_schedule(source, task.definition, std::span(task.cases).first(cases),
                                launch_limits(gpu_));
  // A compile error comes before an error in a directive.
  const auto output =
      compiled(source, schedule ? schedule->kernels : std::vector<std::string>(), cancelled);
  record->compile_log = output->log;
  record->diagnostics = output->diagnostics;
  if (output->end != CompileOutput::kCompiled) {
    refuse(*output, record);
    return std::nullopt;
  }
  if (!schedule) {
    record->fail(Verdict::kLaunchError, described(schedule.error()));
    return std::nullopt;
  }
  auto module = module_from_bytes(output->module);
  if (!module) {
    record->fail(Verdict::kCompileError, "the compiler's output is not a valid module");
    return std::nullopt;
  }
  ptx::ReadResult code = ptx::read_module(module->ptx, kSourceFile);
  if (const std::string why = refusal(code, module->names); !why.empty()) {
    record->fail(Verdict::kRejected, why);
    return std::nullopt;
  }
  return Built{*std::move(schedule), *std::move(module), std::move(code.module)};
}

std::optional<CudaEvaluator::Built> CudaEvaluator::build_library(const std::string& whole,
                                                                 const Cancelled& cancelled,
                                                                 EvaluationRecord* record) {
  const auto output = modules_.get(files::Digest().add("library").add(whole).hex(), [&] {
    return with_size(compiler_.compile_library(whole, cancelled));
  });
  record->compile_log = output->log;
  record->diagnostics = output->diagnostics;
  name_what_torch_lacks(&record->diagnostics);
  name_what_the_linker_refused(record->compile_log, &record->diagnostics);
  if (output->end != CompileOutput::kCompiled) {
    const std::string error = first_error(record->diagnostics);
    const bool failed = output->end == CompileOutput::kFailed && !error.empty();
    if (failed) record->fail(Verdict::kCompileError, error);
    refuse(*output, record);
    return std::nullopt;
  }
  auto module = module_from_bytes(output->module);
  if (module && !module->library.empty()) return Built{{}, *std::move(module), {}};
  record->fail(Verdict::kCompileError, "the compiler's output is not a valid library");
  return std::nullopt;
}

std::shared_ptr<const CompileOutput> CudaEvaluator::compiled(
    std::string_view source, const std::vector<std::string>& kernels, const Cancelled& cancelled) {
  return modules_.get(module_key(source, kernels),
                      [&] { return with_size(compiler_.compile(source, kernels, cancelled)); });
}

std::shared_ptr<const CudaEvaluator::Baseline> CudaEvaluator::naive(const PreparedTask& task,
                                                                    const Cancelled& cancelled) {
  return built_kernel(task, task.definition.naive, "naive kernel", cancelled);
}

std::shared_ptr<const CudaEvaluator::Baseline> CudaEvaluator::baseline(const PreparedTask& task,
                                                                       const Cancelled& cancelled) {
  if (settings_.baseline.reference) return nullptr;
  const auto own = settings_.baseline.kernels.find(task.definition.id);
  if (own == settings_.baseline.kernels.end()) return naive(task, cancelled);
  return built_kernel(task, own->second, "baseline", cancelled);
}

std::shared_ptr<const CudaEvaluator::Baseline> CudaEvaluator::built_kernel(
    const PreparedTask& task, const std::string& source, const std::string& what,
    const Cancelled& cancelled) {
  if (source.empty()) return nullptr;
  return baselines_.get(files::Digest().add(task.digest).add(source).hex(), [&] {
    EvaluationRecord record;
    auto built = build(task, source, task.n_cases, cancelled, &record);
    if (!built) invalid_argument(task.definition.id + ": the " + what + ": " + record.why);
    const std::size_t bytes = built->module.cubin.size() + built->module.ptx.size();
    std::string digest = files::Digest().add(built->module.cubin).hex();
    return std::pair(Baseline{*std::move(built), std::move(digest)}, bytes);
  });
}

std::vector<PlannedRun> CudaEvaluator::plan(const PreparedTask& asked,
                                            const EvaluationRequest& request) const {
  return plan_evaluation(asked, settings_.runs_per_case, request.run_seeds(asked.digest));
}

void CudaEvaluator::execute(const PreparedTask& asked, Built built,
                            const EvaluationRequest& request, const Cancelled& cancelled,
                            EvaluationRecord* record) {
  Obstacles obstacles;
  if (!request.host) {
    obstacles = add_fresh_launches(asked, built.module, gpu_, compiler_.arch, &built.schedule);
  }
  std::vector<PlannedRun> runs = plan(asked, request);
  std::erase_if(runs, [&](const PlannedRun& r) { return obstacles.count(r.case_index) > 0; });
  runs = with_poisons(runs, [&](std::size_t c) { return elements_of(asked.cases[c]) <= 1 << 20; });
  const bool counted = (request.stages & KRL_STAGE_COUNTERS) != 0 && !request.host;
  // Memory traffic is compared with the time, which the profiler cannot measure.
  const bool timed = counted || (request.stages & KRL_STAGE_TIME) != 0;
  const std::shared_ptr<const Baseline> rival = timed ? baseline(asked, cancelled) : nullptr;
  const std::shared_ptr<const Baseline> trusted = naive(asked, cancelled);
  gpus_->with_gpu(cancelled, [&](Gpu& gpu) {
    std::optional<GpuCandidate> kernel, right;
    if (rival) kernel.emplace(GpuCandidate{asked, rival->built.schedule, rival->built.module});
    if (trusted) right.emplace(GpuCandidate{asked, trusted->built.schedule, trusted->built.module});
    GpuBaseline held_against{nullptr, settings_.baseline.reference};
    if (rival) {
      held_against.kernel = &*kernel;
      held_against.digest = rival->digest;
    }
    if (trusted) held_against.trusted = trusted == rival ? &*kernel : &*right;
    const bool by_trials = timed && asked.protocol == Protocol::kKernelBench;
    HostTiming called(gpu, asked, held_against, runs);
    if (timed && request.host && !by_trials) called.time_baselines();
    const RunnerChoice runner(gpu, request.host ? RunnerKind::kHost : RunnerKind::kDevice);
    const bool is_limited = trusted && request.source != asked.definition.naive;
    const auto most = is_limited ? run_limit(gpu, *right, runs) : gpu.run_limit();
    const RunLimit limit(gpu, request.host ? most + kHostWork : most);
    const GpuCandidate candidate{asked, built.schedule, built.module};
    check_on_gpu(gpu, candidate, runs, record);
    settle_fresh_cases(asked, obstacles, record);
    if (by_trials) {
      time_trials(gpu, candidate, runs, record);
    } else if (timed && record->verdict == Verdict::kOk && request.host) {
      called.time(candidate, settings_.timing, record);
    } else if (timed && record->verdict == Verdict::kOk) {
      time_on_gpu(gpu, candidate, held_against, runs, settings_.timing, record);
    }
    check_arena(gpu, record);
    if (request.host && !timed) ends_in_order(gpu, candidate, runs.front(), record);
    if (candidate.load().stack_bytes > kMostStackKept) gpu.replace_runner();
    if (counted && record->verdict == Verdict::kOk) {
      gpu.counters().add(candidate, runs, record);
    }
  });
}

}  // namespace krl::cuda
