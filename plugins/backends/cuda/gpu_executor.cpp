#include "plugins/backends/cuda/gpu_executor.hpp"

#include <algorithm>
#include <chrono>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/host_timing.hpp"
#include "plugins/backends/cuda/gpu/trials.hpp"
#include "plugins/backends/cuda/host/host_build.hpp"
#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::cuda {
using namespace compiled;
using namespace evaluator;
namespace {

// An allowance for host code, which also allocates and copies: no kernel's time predicts that.
constexpr std::chrono::milliseconds kHostWork{500};
// Changes whenever the meaning of cached values changes.
constexpr std::string_view kCacheSchema = "kernelrl/cuda/13";

constexpr std::uint64_t kBaselineBytes = 128 << 20;
// Limits on a thread's local memory. For all threads that a GPU holds at once, the driver takes up
// to a fifth of its memory and never returns it: a process in which a candidate used more than some
// hundred MiB serves no other candidate.
constexpr std::uint32_t kMostStack = 65536, kMostStackKept = 2048;
constexpr int kAttempts = 4;
// An evaluation is restarted for this long if someone kills the GPU's processes; starting one takes
// 3 s.
constexpr std::chrono::minutes kPatience{5};

std::string device_name(const std::string& arch, const GpuPool* gpus) {
  return gpus == nullptr ? arch + ", not executed" : gpus->description().name;
}

std::string counters_problem_of(GpuPool* gpus) {
  std::string problem = "there is no GPU";
  if (gpus != nullptr) gpus->with_gpu({}, [&](Gpu& gpu) { problem = gpu.counters().problem(); });
  return problem;
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
EvaluationRecord killed_each_time() {
  EvaluationRecord record;
  record.fail(Verdict::kRuntimeFault,
              "the process of its host code was killed each time that it ran");
  record.repeatable = false;
  return record;
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

GpuExecutor::GpuExecutor(GpuExecutorSettings settings, const std::string& arch,
                         std::unique_ptr<GpuPool> gpus)
    : settings_(std::move(settings)),
      gpus_(std::move(gpus)),
      device_(device_name(arch, gpus_.get())),
      counters_problem_(counters_problem_of(gpus_.get())),
      baselines_(kBaselineBytes) {}

std::string GpuExecutor::identity(const CudaCompiler& compiler,
                                  const EvaluatorSettings& settings) const {
  files::Digest digest;
  digest.add(kCacheSchema).add(compiler.identity).add(device_);
  digest.add(settings_.libraries);
  digest.add(settings.runs_per_case).add(std::uint64_t{settings_.baseline.reference});
  digest.add(static_cast<std::uint64_t>(settings.sizes));
  digest.add(static_cast<std::uint64_t>(settings.protocol));
  for (const auto& [task, kernel] : settings_.baseline.kernels) digest.add(task).add(kernel);
  if (gpus_) digest.add(gpus_->identity());
  digest.add(std::uint64_t{counters_problem_.empty()});
  return digest.hex();
}

EvaluationRecord GpuExecutor::patiently(const std::function<EvaluationRecord()>& evaluate,
                                        const Cancelled& cancelled) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  for (int failed = 0;;) {
    try {
      return evaluate();
    } catch (const RunnerKilled&) {
      if (++failed == kAttempts) return killed_each_time();
    } catch (const WorkerKilled&) {
      if (std::chrono::steady_clock::now() > give_up) throw;
      if (cancelled && cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
    } catch (const Failure& failure) {  // a process of ours died: another takes its place
      if (failure.code() != KRL_UNAVAILABLE || ++failed == kAttempts) throw;
    }
  }
}

bool GpuExecutor::build_host(Attempt* attempt) {
  return build_host_candidate(attempt, !settings_.libraries.empty());
}

void GpuExecutor::examine(const Attempt& attempt) {
  if (!gpus_ || attempt.request.host) return;
  const std::uint32_t stack = most_stack(attempt.module().cubin, attempt.module().ptx);
  if (stack <= kMostStack) return;
  attempt.record->fail(Verdict::kResourceLimit, "a thread uses " + std::to_string(stack) +
                                                    " bytes of local memory, and a GPU has " +
                                                    std::to_string(kMostStack) + " for each");
}

void GpuExecutor::execute(const Attempt& attempt) {
  const PreparedTask& asked = attempt.task;
  const EvaluationRequest& request = attempt.request;
  EvaluationRecord* const record = attempt.record;
  const std::vector<PlannedRun> runs = with_poisons(
      attempt.runs, [&](std::size_t c) { return elements_of(asked.cases[c]) <= 1 << 20; });
  const bool counted = (request.stages & KRL_STAGE_COUNTERS) != 0 && !request.host;
  // Memory traffic is compared with the time, which the profiler cannot measure.
  const bool timed = counted || (request.stages & KRL_STAGE_TIME) != 0;
  const std::shared_ptr<const Baseline> rival = timed ? baseline(attempt) : nullptr;
  const std::shared_ptr<const Baseline> trusted = naive(attempt);
  gpus_->with_gpu(attempt.cancelled, [&](Gpu& gpu) {
    std::optional<GpuCandidate> kernel, right;
    if (rival) kernel.emplace(GpuCandidate{asked, rival->built.schedule, rival->built.module()});
    if (trusted)
      right.emplace(GpuCandidate{asked, trusted->built.schedule, trusted->built.module()});
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
    const GpuCandidate candidate{asked, attempt.schedule(), attempt.module()};
    check_on_gpu(gpu, candidate, runs, record);
    settle_fresh_cases(asked, attempt.obstacles, record);
    if (attempt.ok() && !request.host)
      add_launch_values(attempt.schedule(), attempt.built.compiled->kernels, record);
    if (by_trials) {
      time_trials(gpu, candidate, runs, record);
    } else if (timed && attempt.ok() && request.host) {
      called.time(candidate, settings_.timing, record);
    } else if (timed && attempt.ok()) {
      time_on_gpu(gpu, candidate, held_against, runs, settings_.timing, record);
    }
    check_arena(gpu, record);
    if (request.host && !timed) ends_in_order(gpu, candidate, runs.front(), record);
    if (candidate.load().stack_bytes > kMostStackKept) gpu.replace_runner();
    if (counted && attempt.ok()) {
      gpu.counters().add(candidate, runs, record);
    }
  });
}

void GpuExecutor::check_reference(const PreparedTask& task, std::vector<PlannedRun> runs,
                                  const Cancelled& cancelled) {
  gpus_->with_gpu(cancelled, [&](Gpu& gpu) {
    require_room(task, gpu.arena_bytes());
    if (task.protocol == Protocol::kKernelBench) return;  // KernelBench checks no task
    evaluator::check_reference(
        task, runs,
        {[&](const PlannedRun& run) { expect_on_gpu(gpu, task, run); },
         [&](const PlannedRun& run) { return traits_on_gpu(gpu, task, run); },
         [&](const std::vector<PlannedRun>& tried, const Impostor& impostor) {
           return passes_on_gpu(gpu, task, tried, impostor);
         }});
  });
}

std::shared_ptr<const GpuExecutor::Baseline> GpuExecutor::naive(const Attempt& attempt) {
  return built_kernel(attempt, attempt.task.definition.naive, "naive kernel");
}

std::shared_ptr<const GpuExecutor::Baseline> GpuExecutor::baseline(const Attempt& attempt) {
  if (settings_.baseline.reference) return nullptr;
  const auto own = settings_.baseline.kernels.find(attempt.task.definition.id);
  if (own == settings_.baseline.kernels.end()) return naive(attempt);
  return built_kernel(attempt, own->second, "baseline");
}

std::shared_ptr<const GpuExecutor::Baseline> GpuExecutor::built_kernel(const Attempt& attempt,
                                                                       const std::string& source,
                                                                       const std::string& what) {
  if (source.empty()) return nullptr;
  return baselines_.get(files::Digest().add(attempt.task.digest).add(source).hex(), [&] {
    Built built = attempt.builder.build_trusted(attempt.task, source, what, attempt.cancelled);
    const CompiledModule& module = built.module();
    const std::size_t bytes = module.cubin.size() + module.ptx.size();
    std::string digest = files::Digest().add(module.cubin).hex();
    return std::pair(Baseline{std::move(built), std::move(digest)}, bytes);
  });
}

}  // namespace krl::cuda
