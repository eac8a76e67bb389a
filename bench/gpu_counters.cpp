#include "bench/gpu_counters.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/cuda/gpu/gpu_search.hpp"
#include "plugins/backends/cuda/gpu/gpu_start.hpp"
#include "plugins/backends/cuda/worker/counters/metrics.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/process/message_stream.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"

namespace krl::bench {
namespace {

using testing::Outcome;
using Clock = std::chrono::steady_clock;

constexpr std::array kTasks = {"vector_add", "transpose", "matmul", "softmax_rows", "histogram"};
constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kArenaBytes = std::uint64_t{4} << 30;

struct Profiled {
  Outcome outcome;
  double ms = 0;
};

Profiled evaluate(const testing::BackendInstance& backend, const char* id, std::uint32_t stages) {
  const testing::TaskText& task = testing::all_tasks().at(id);
  const auto start = Clock::now();
  Profiled profiled{backend.evaluate(task, testing::naive_of(task), stages, kSeed)};
  profiled.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return profiled;
}

// `scale`: of the values, undone, as ncu has percents where evaluations have shares.
void print_row(const std::string& name, const std::string& metric, double scale,
               const std::array<Profiled, kTasks.size()>& profiled) {
  std::printf("%-26s %-66s", name.c_str(), metric.c_str());
  for (const Profiled& p : profiled) {
    const auto found = p.outcome.values.find(name);
    if (found == p.outcome.values.end()) std::printf(" %14s", "-");
    if (found != p.outcome.values.end()) std::printf(" %14.6g", found->second / scale);
  }
  std::printf("\n");
}

void print_header(const std::array<Profiled, kTasks.size()>& profiled) {
  std::printf("%-26s %-66s", "value", "metric");
  for (const char* task : kTasks) std::printf(" %14s", task);
  std::printf("\n%-93s", "first case");
  for (const Profiled& p : profiled) {
    std::printf(" %14s", p.outcome.cases.empty() ? "-" : p.outcome.cases.front().label.c_str());
  }
  std::printf("\n");
}

std::string ncu_metrics() {
  std::string metrics;
  for (const gpu::Metric& metric : gpu::kMetrics) {
    metrics += (metrics.empty() ? "" : ",") + std::string(metric.cupti);
  }
  return metrics;
}

// A kernel as a backend would run it.
struct Built {
  PreparedTask task;
  LaunchSchedule schedule;
  CompiledModule module;

  Built(const testing::TaskText& text, const CudaCompiler& compiler)
      : task(prepare_task(text.definition_json)) {
    const std::string source = testing::naive_of(text);
    auto read = read_schedule(source, task.definition, task.cases, {});
    if (!read) throw Failure(KRL_INVALID_ARGUMENT, described(read.error()));
    schedule = *std::move(read);
    module = module_from_bytes(compiler.compile(source, schedule.kernels, {}).module).value();
  }
};

// The run whose counters an evaluation has: the first case's first.
void write_requests(const Built& built, const gpu::Setup& setup, const std::string& file) {
  const GpuCandidate candidate{built.task, built.schedule, built.module};
  const PlannedRun run =
      plan_runs(built.task.n_cases, 0, 5, mix_seed(kSeed, built.task.digest)).front();
  const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool written = write_message(to, {{"setup", setup}}) &&
                       write_message(to, {{"load", candidate.load()}}) &&
                       write_message(to, {{"run", gpu::Run{candidate.buffers(0).program, run.seed,
                                                           factor_of(run.distribution)}}});
  if (!written) std::printf("%s cannot be written\n", file.c_str());
  ::close(to);
}

}  // namespace

void print_counters(const testing::BackendInstance& backend) {
  constexpr std::uint32_t kChecked = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
  std::array<Profiled, kTasks.size()> profiled;
  for (std::size_t i = 0; i < kTasks.size(); ++i) {
    const Profiled checked = evaluate(backend, kTasks[i], kChecked);
    profiled[i] = evaluate(backend, kTasks[i], kChecked | KRL_STAGE_TIME | KRL_STAGE_COUNTERS);
    const Profiled timed = evaluate(backend, kTasks[i], kChecked | KRL_STAGE_TIME);
    const Outcome& outcome = profiled[i].outcome;
    std::printf("%-14s %s %s: checked %.1f ms, and timed %.1f ms, and profiled %.1f ms\n",
                kTasks[i], std::string(verdict_name(outcome.verdict)).c_str(), outcome.why.c_str(),
                checked.ms, timed.ms, profiled[i].ms);
    for (const std::string& note : outcome.diagnostics) std::printf("  %s\n", note.c_str());
  }
  print_header(profiled);
  for (const gpu::Metric& metric : gpu::kMetrics) {
    print_row(std::string(metric.name), metric.cupti, metric.scale, profiled);
  }
  for (const char* name : {"sectors_per_request", "warp_efficiency", "bank_conflicts_per_request",
                           "bandwidth_fraction"}) {
    print_row(name, "", 1, profiled);
  }
  if ((backend.describe().signals & KRL_SIGNAL_MEMORY) == 0) {
    std::printf("no counters; libexec/kernelrl/kernelrl-gpu-profiler --check 0 says why\n");
  }
}

void save_for_ncu(const std::string& folder) {
  std::filesystem::create_directories(folder);
  void* plugin = ::dlopen(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/nvrtc.krl.so", RTLD_NOW);
  const InstalledFiles files(::dlsym(plugin, "krl_plugin_v1"), "gpu_bench");
  const std::string runner = files.worker("kernelrl-gpu-runner");
  CompileSettings settings;
  settings.arch = find_gpus(runner, {}).front().arch;
  const CudaCompiler compiler = nvrtc_compiler(settings, files);
  const gpu::Setup setup{0, compiled_judge(compiler), kArenaBytes};
  for (const char* id : kTasks) {
    const Built built(testing::all_tasks().at(id), compiler);
    const std::string file = folder + "/" + id + ".requests";
    write_requests(built, setup, file);
    std::string kernels;
    for (const std::string& kernel : built.schedule.kernels) {
      kernels += (kernels.empty() ? "" : "|") + kernel.substr(0, kernel.find('<'));
    }
    std::printf(
        "ncu --log-file stderr --clock-control none --cache-control all -k 'regex:^(%s)$' "
        "--print-units base --metrics %s %s < %s > /dev/null\n",
        kernels.c_str(), ncu_metrics().c_str(), runner.c_str(), file.c_str());
  }
}

}  // namespace krl::bench
