#include "cli/kernel_judges.hpp"

#include <kernelrl/evaluation_json.hpp>

#include "cli/tasks.hpp"

namespace krl::cli {

nlohmann::ordered_json to_json(const JudgedKernel& judged) {
  return {{"evaluation", nlohmann::ordered_json::parse(to_json_text(judged.evaluation))}};
}

Result<KernelJudges> KernelJudges::open(const CommandLine& line, Components& components) {
  const auto contract = named<Contract>(line.has("contract") ? line.text("contract") : "device");
  if (!contract) return invalid("--contract takes device or host");
  EvaluateOptions options;
  options.contract = *contract;
  if (line.has("holdout")) options.stages |= KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;
  KRL_ASSIGN(Evaluator backend,
             open_evaluator(line.text("backend"), line.texts("set"), components));
  if (!line.has("sanitizer")) return KernelJudges(Judge(std::move(backend)), options);
  KRL_ASSIGN(Evaluator sanitizer, open_evaluator(line.text("sanitizer"), {}, components));
  return KernelJudges(Judge(std::move(backend), std::move(sanitizer)), options);
}

Status KernelJudges::prepare(const Task& task) {
  Prepared* prepared = nullptr;
  {
    const std::lock_guard lock(*mutex_);
    prepared = &prepared_[task.id];
  }
  std::call_once(prepared->once, [&] { prepared->status = own_.prepare(task, options_); });
  return prepared->status;
}

Result<JudgedKernel> KernelJudges::judge(const Task& task, const std::string& source) {
  KRL_TRY(prepare(task));
  EvaluateOptions options = options_;
  if (source.find("class ModelNew") != std::string::npos) options.contract = Contract::kHost;
  KRL_ASSIGN(Evaluation evaluation, own_.evaluate(task, source, options));
  return JudgedKernel{std::move(evaluation)};
}

}  // namespace krl::cli
