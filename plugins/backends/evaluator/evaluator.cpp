#include "plugins/backends/evaluator/evaluator.hpp"

#include <utility>

#include "plugins/backends/evaluator/candidate/fresh_launches.hpp"
#include "plugins/backends/evaluator/check/task_checks.hpp"

namespace krl::evaluator {
using namespace compiled;

EvaluationRecord Executor::patiently(const std::function<EvaluationRecord()>& evaluate,
                                     const Cancelled&) {
  return evaluate();
}

bool Executor::build_host(Attempt* attempt) {
  attempt->record->fail(Verdict::kRejected, "candidates with their own host code do not run here");
  return false;
}

Evaluator::Evaluator(EvaluatorSettings settings, CudaCompiler compiler,
                     std::unique_ptr<Executor> executor)
    : settings_(std::move(settings)),
      executor_(std::move(executor)),
      builder_(std::move(compiler), executor_->ptx_machine()),
      identity_(executor_->identity(builder_.compiler(), settings_)),
      tasks_(settings_.sizes, settings_.protocol),
      evaluations_(settings_.cache_folder, settings_.cache_bytes) {}

void Evaluator::prepare(std::string_view definition_json, std::uint64_t seed,
                        const Cancelled& cancelled) {
  const auto task = tasks_.get(definition_json);
  const EvaluationRequest naive{
      definition_json, task->definition.naive,
      KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL, seed};
  if (executor_->runs()) {
    const PreparedTask asked = select_cases(*task, naive.stages, naive.fresh_set(task->digest));
    executor_->check_reference(asked, plan(asked, naive), cancelled);
  }
  if (naive.source.empty() || task->protocol == Protocol::kKernelBench) return;
  require_right_naive(task->definition, evaluate_once(naive, cancelled));
}

EvaluationRecord Evaluator::evaluate(const EvaluationRequest& request, const Cancelled& cancelled) {
  return request.is_anew() ? evaluate_anew(request, cancelled) : evaluate_once(request, cancelled);
}

EvaluationRecord Evaluator::evaluate_once(const EvaluationRequest& request,
                                          const Cancelled& cancelled) {
  return *evaluations_.get(request.key(identity_),
                           [&] { return evaluate_anew(request, cancelled); });
}

EvaluationRecord Evaluator::evaluate_anew(const EvaluationRequest& request,
                                          const Cancelled& cancelled) {
  const auto task = tasks_.get(request.definition_json);
  EvaluationRecord record =
      executor_->patiently([&] { return attempt(*task, request, cancelled); }, cancelled);
  record.toolchain = builder_.compiler().toolchain_of(request.host ? Language::kCuda
                                                                   : language_of(request.source));
  record.device = device();
  return record;
}

EvaluationRecord Evaluator::attempt(const PreparedTask& task, const EvaluationRequest& request,
                                    const Cancelled& cancelled) {
  EvaluationRecord record;
  const PreparedTask asked = select_cases(task, request.stages, request.fresh_set(task.digest));
  Attempt attempt{builder_, asked, request, cancelled, &record};
  if (!(request.host ? executor_->build_host(&attempt) : build(&attempt))) return record;
  executor_->examine(attempt);
  const std::vector<Value>& values = attempt.built.compiled->values;
  if (attempt.ok()) record.values.insert(record.values.end(), values.begin(), values.end());
  if (!attempt.ok() || !executor_->runs() || !request.executes()) return record;
  if (!request.host)
    attempt.obstacles = add_fresh_launches(asked, builder_.target(), &attempt.built);
  attempt.runs = plan(asked, request);
  std::erase_if(attempt.runs,
                [&](const PlannedRun& run) { return attempt.obstacles.count(run.case_index) > 0; });
  executor_->execute(attempt);
  return record;
}

// Builds a candidate of device code alone.
bool Evaluator::build(Attempt* attempt) {
  const PreparedTask& task = attempt->task;
  auto text = builder_.read(attempt->request, task.definition);
  if (!text) {
    attempt->record->fail(Verdict::kRejected, text.error().text());
    return false;
  }
  attempt->text = *std::move(text);
  auto built =
      builder_.build(task, attempt->text, task.n_known(), attempt->cancelled, attempt->record);
  if (!built) return false;
  attempt->built = *std::move(built);
  const std::vector<CompiledKernel>& kernels = attempt->built.compiled->kernels;
  add_kernel_figures(task.cases, attempt->schedule(), kernels, builder_.target(), attempt->record);
  note_parameter_types(task.cases, attempt->schedule(), kernels, attempt->record);
  return attempt->ok();
}

std::vector<PlannedRun> Evaluator::plan(const PreparedTask& asked,
                                        const EvaluationRequest& request) const {
  return plan_evaluation(asked, settings_.runs_per_case, request.run_seeds(asked.digest));
}

}  // namespace krl::evaluator
