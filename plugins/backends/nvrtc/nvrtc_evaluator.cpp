#include "plugins/backends/nvrtc/nvrtc_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/tensor_types.hpp>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/cuda/occupancy.hpp"
#include "plugins/backends/evaluator/installed_files.hpp"
#include "plugins/backends/evaluator/source/static_checks.hpp"
#include "plugins/backends/nvrtc/compiled_module.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/backends/nvrtc/prelude.hpp"

namespace krl {
namespace {

constexpr int kCacheSchema = 1;  // raised when an evaluation comes to mean something else
constexpr std::chrono::seconds kVersionLimit{30};

const ComputeCapability& gpu_of(const std::string& arch) {
  if (const ComputeCapability* known = find_arch(arch)) return *known;
  std::string names;
  for (const ComputeCapability& known : compute_capabilities()) {
    names += (names.empty() ? "" : ", ") + known.arch();
  }
  invalid_argument("arch: '" + arch + "' is none of " + names);
}

InstalledFiles installed_files() {
  return {reinterpret_cast<const void*>(&gpu_of), "the nvrtc backend"};
}

// What the worker's process may read.
std::vector<std::string> readable_files(const NvrtcLibrary& nvrtc) {
  std::vector<std::string> files = {
      "/usr/lib", "/usr/lib64",       "/lib",
      "/lib64",   "/etc/ld.so.cache", nvrtc.library.parent_path().string()};
  if (!nvrtc.headers.empty()) files.push_back(nvrtc.headers.string());
  return files;
}

std::vector<std::string> compile_step(const std::string& program, const NvrtcSettings& settings,
                                      const NvrtcLibrary& nvrtc) {
  std::vector<std::string> step = {program,
                                   nvrtc.library.string(),
                                   "--gpu-architecture=" + settings.arch,
                                   "--std=c++17",
                                   "--generate-line-info",
                                   std::string("--pre-include=") + nvrtc::kPreludeName,
                                   "--ptxas-options=-v"};
  if (!nvrtc.headers.empty()) step.push_back("--include-path=" + nvrtc.headers.string());
  step.insert(step.end(), settings.flags.begin(), settings.flags.end());
  step.emplace_back("--kernels");
  return step;
}

// "13.0". Asks NVRTC in a process of its own: it is a large library, and none of ours.
std::string version_of(const CompileWorkerOptions& worker, const std::string& program,
                       const NvrtcLibrary& nvrtc) {
  const MemoryFile answer = MemoryFile::create("krl-version");
  Command command =
      sandboxed(worker.launcher, worker.rules, {{program, nvrtc.library.string(), "--version"}});
  command.descriptors = {{answer.descriptor(), 1}, {answer.descriptor(), 2}};
  const Ending ending = Subprocess(command).wait(kVersionLimit);
  const std::string text = answer.read(4096);
  if (ending.ok()) return text;
  throw Failure(KRL_FAILED_PRECONDITION,
                nvrtc.library.string() + " cannot be used: " + ending.description() + " " + text);
}

std::int64_t threads_of(const ResolvedLaunch& launch) {
  return static_cast<std::int64_t>(launch.block[0]) * launch.block[1] * launch.block[2];
}

// Whether a parameter of so many bytes can take the argument.
bool fits(const LaunchArgument& argument, std::uint32_t bytes, const ResolvedCase& resolved_case) {
  if (argument.kind == LaunchArgument::kInteger) return bytes == 4 || bytes == 8;
  if (argument.kind != LaunchArgument::kScalar) return bytes == sizeof(void*);
  const DType dtype = resolved_case.scalars[argument.index].dtype;
  return bytes == static_cast<std::uint32_t>(size_of(dtype));
}

// What makes the launch impossible, as far as that shows without it; empty if nothing does.
std::string obstacle(const ResolvedLaunch& launch, const CubinKernel& kernel,
                     const ResolvedCase& resolved_case) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    return launch.kernel + " takes " + std::to_string(kernel.parameters.size()) +
           " arguments, not " + std::to_string(launch.arguments.size());
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (fits(launch.arguments[i], kernel.parameters[i].bytes, resolved_case)) continue;
    return launch.kernel + " takes " + std::to_string(kernel.parameters[i].bytes) +
           " bytes as its argument " + std::to_string(i + 1) + ", which this is not";
  }
  if (kernel.max_threads >= 0 && threads_of(launch) > kernel.max_threads) {
    return "a block of " + std::to_string(threads_of(launch)) + " threads, but " + launch.kernel +
           " has __launch_bounds__(" + std::to_string(kernel.max_threads) + ")";
  }
  return {};
}

}  // namespace

NvrtcEvaluator::NvrtcEvaluator(NvrtcSettings settings)
    : settings_(std::move(settings)),
      gpu_(gpu_of(settings_.arch)),
      evaluations_(settings_.cache_folder, settings_.cache_bytes) {
  const InstalledFiles files = installed_files();
  const NvrtcLibrary nvrtc = find_nvrtc(settings_.cuda, KERNELRL_PYTHON_DEPS);
  const std::string program = files.worker("kernelrl-nvrtc");
  worker_.launcher = files.worker("kernelrl-sandbox");
  worker_.steps = {compile_step(program, settings_, nvrtc)};
  worker_.work_files = 0;
  worker_.time_limit = settings_.compile_limit;
  worker_.source_name = "kernel.cu";
  worker_.rules.address_space_bytes = settings_.memory_bytes;
  worker_.rules.cpu_seconds = static_cast<std::uint32_t>(
      std::ceil(static_cast<double>(settings_.compile_limit.count()) / 1000));
  worker_.rules.readable = readable_files(nvrtc);
  const std::string version = version_of(worker_, program, nvrtc);
  toolchain_ = "NVRTC " + version;
  Digest digest;
  digest.add(kCacheSchema).add(version).add(std::filesystem::file_size(nvrtc.library));
  digest.add(settings_.arch).add(settings_.memory_bytes).add(worker_.rules.cpu_seconds);
  for (const std::string& flag : settings_.flags) digest.add(flag);
  for (const std::string& file : {program, worker_.launcher, files.plugin()}) {
    digest.add(read_file(file));
  }
  identity_ = digest.hex();
}

void NvrtcEvaluator::prepare(const EvaluationRequest& request, const Cancelled& cancelled) {
  const auto task = tasks_.get(request.definition_json);
  if (task->definition.naive.empty()) return;
  EvaluationRequest naive = request;
  naive.source = task->definition.naive;
  const EvaluationRecord record = evaluate(naive, cancelled);
  if (record.verdict == KRL_VERDICT_OK) return;
  invalid_argument(task->definition.id + ": the naive kernel: " +
                   std::string(verdict_name(record.verdict)) + ": " + record.why);
}

EvaluationRecord NvrtcEvaluator::evaluate(const EvaluationRequest& request,
                                          const Cancelled& cancelled) {
  return *evaluations_.get(request.key(identity_), [&] {
    return evaluate_new(*tasks_.get(request.definition_json), request, cancelled);
  });
}

EvaluationRecord NvrtcEvaluator::evaluate_new(const PreparedTask& task,
                                              const EvaluationRequest& request,
                                              const Cancelled& cancelled) const {
  EvaluationRecord record;
  record.toolchain = toolchain_;
  record.device = settings_.arch + ", not executed";
  if (const auto problem = check_source(request.source, task.definition.forbid)) {
    record.fail(KRL_VERDICT_REJECTED, problem->text());
    return record;
  }
  const bool holdouts = (request.stages & KRL_STAGE_HOLDOUT) != 0;
  LaunchLimits limits;
  limits.shared_bytes = gpu_.shared_per_block;
  const auto schedule = read_schedule(
      request.source, task.definition,
      std::span(task.cases).first(holdouts ? task.cases.size() : task.n_cases), limits);
  CompileWorkerOptions worker = worker_;
  if (schedule) {
    auto& step = worker.steps.front();
    step.insert(step.end(), schedule->kernels.begin(), schedule->kernels.end());
  }
  // What does not compile is a compile error whatever its directives say.
  const CompileOutput output = compile(worker, request.source, cancelled);
  record.compile_log = output.log;
  record.diagnostics = output.diagnostics;
  if (output.end == CompileOutput::kTimeout) {
    record.fail(KRL_VERDICT_TIMEOUT, output.why);
    record.repeatable = false;
  } else if (output.end == CompileOutput::kOutOfResources) {
    record.fail(KRL_VERDICT_RESOURCE_LIMIT, output.why);
  } else if (output.end == CompileOutput::kFailed) {
    record.fail(KRL_VERDICT_COMPILE_ERROR, output.why);
  } else if (!schedule) {
    record.fail(KRL_VERDICT_LAUNCH_ERROR, described(schedule.error()));
  } else {
    add_kernels(task, *schedule, output.module, &record);
  }
  return record;
}

void NvrtcEvaluator::add_kernels(const PreparedTask& task, const LaunchSchedule& schedule,
                                 const std::string& module, EvaluationRecord* record) const {
  std::string why = "kernelrl-nvrtc gave something else";
  const auto compiled = nvrtc::module_from_bytes(module);
  const auto code = compiled ? read_cubin(compiled->cubin, why) : std::nullopt;
  if (!code || compiled->names.size() != schedule.kernels.size()) {
    record->fail(KRL_VERDICT_COMPILE_ERROR, "the compiled code cannot be read: " + why);
    return;
  }
  const auto resources = read_resource_report(compiled->report);
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const std::string& mangled = compiled->names[k];
    const auto found = std::find_if(code->begin(), code->end(),
                                    [&](const CubinKernel& c) { return c.name == mangled; });
    if (found == code->end()) {
      record->fail(KRL_VERDICT_LAUNCH_ERROR, schedule.kernels[k] + " is no __global__ function");
      return;
    }
    const auto reported = resources.find(mangled);
    const Kernel kernel{*found, reported == resources.end() ? KernelResources() : reported->second};
    add_kernel(schedule.kernels[k], kernel, task, schedule, record);
  }
}

// The kernel's figures, its occupancy in the launch that fills a multiprocessor least.
void NvrtcEvaluator::add_kernel(const std::string& name, const Kernel& kernel,
                                const PreparedTask& task, const LaunchSchedule& schedule,
                                EvaluationRecord* record) const {
  KernelRecord figures;
  figures.name = name;
  figures.arch = settings_.arch;
  figures.registers = kernel.code.registers;
  figures.stack_bytes = kernel.code.stack_bytes;
  figures.spill_bytes = kernel.resources.spill_bytes;
  figures.max_threads = kernel.code.max_threads;
  std::int64_t most_shared = 0;
  for (std::size_t c = 0; c < schedule.programs.size(); ++c) {
    for (const ResolvedLaunch& launch : schedule.programs[c].launches) {
      if (launch.kernel != name) continue;
      std::string why = obstacle(launch, kernel.code, task.cases[c]);
      const std::int64_t fixed = std::max(0, kernel.resources.shared_bytes);
      const Occupancy occupancy =
          theoretical_occupancy(gpu_, {threads_of(launch), kernel.code.registers, fixed,
                                       launch.shared_bytes, kernel.resources.barriers});
      if (why.empty() && occupancy.blocks_per_sm == 0) {
        why = "a block does not fit a multiprocessor of " + settings_.arch + ": too much of its " +
              occupancy.limiter;
      }
      if (!why.empty()) {
        record->fail(KRL_VERDICT_LAUNCH_ERROR, described({launch.line, launch.column, why}));
        return;
      }
      most_shared = std::max(most_shared, fixed + launch.shared_bytes);
      if (figures.occupancy <= occupancy.fraction) continue;
      figures.occupancy = occupancy.fraction;
      figures.blocks_per_sm = occupancy.blocks_per_sm;
      figures.occupancy_limiter = occupancy.limiter;
    }
  }
  figures.shared_bytes = static_cast<std::int32_t>(most_shared);
  record->kernels.push_back(std::move(figures));
}

}  // namespace krl
