#include "plugins/backends/cuda/cuda_evaluator.hpp"

#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/cuda/compiled_module.hpp"
#include "plugins/backends/cuda/kernel_figures.hpp"
#include "plugins/backends/evaluator/source/static_checks.hpp"

namespace krl {
namespace {

// Changes whenever the meaning of what is kept changes.
constexpr std::string_view kCacheSchema = "kernelrl/cuda/1";

}  // namespace

CudaEvaluator::CudaEvaluator(CudaCompiler compiler, const CudaSettings& settings)
    : compiler_(std::move(compiler)),
      gpu_(require_arch(compiler_.arch)),
      identity_(Digest().add(kCacheSchema).add(compiler_.identity).hex()),
      evaluations_(settings.cache_folder, settings.cache_bytes) {}

void CudaEvaluator::prepare(const EvaluationRequest& request, const Cancelled& cancelled) {
  const auto task = tasks_.get(request.definition_json);
  if (task->definition.naive.empty()) return;
  EvaluationRequest naive = request;
  naive.source = task->definition.naive;
  const EvaluationRecord record = evaluate(naive, cancelled);
  if (record.verdict == KRL_VERDICT_OK) return;
  invalid_argument(task->definition.id + ": the naive kernel: " +
                   std::string(verdict_name(record.verdict)) + ": " + record.why);
}

EvaluationRecord CudaEvaluator::evaluate(const EvaluationRequest& request,
                                         const Cancelled& cancelled) {
  return *evaluations_.get(request.key(identity_), [&] {
    return evaluate_new(*tasks_.get(request.definition_json), request, cancelled);
  });
}

EvaluationRecord CudaEvaluator::evaluate_new(const PreparedTask& task,
                                             const EvaluationRequest& request,
                                             const Cancelled& cancelled) const {
  EvaluationRecord record;
  record.toolchain = toolchain();
  record.device = device();
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
  // What does not compile is a compile error whatever its directives say.
  const CompileOutput output = compiler_.compile(
      request.source, schedule ? schedule->kernels : std::vector<std::string>(), cancelled);
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
  } else if (const auto module = module_from_bytes(output.module)) {
    add_kernel_figures(task, *schedule, *module, gpu_, compiler_.arch, &record);
  } else {
    record.fail(KRL_VERDICT_COMPILE_ERROR, "the compiler gave something else than a module");
  }
  return record;
}

}  // namespace krl
