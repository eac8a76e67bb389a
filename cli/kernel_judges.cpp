#include "cli/kernel_judges.hpp"

#include <kernelrl/evaluation_json.hpp>

#include "cli/tasks.hpp"

namespace krl::cli {
namespace fs = std::filesystem;

namespace {

// The task with the inputs that KernelBench draws, which the importer writes beside a task's file.
Result<Task> as_published(const Task& task, Components& components) {
  const auto definition = nlohmann::json::parse(task.definition_json, nullptr, false);
  const auto place = nlohmann::json::json_pointer("/origin/file");
  if (!definition.is_object() || !definition.contains(place)) return task;
  const fs::path file =
      fs::path(definition[place].get<std::string>()).replace_extension(".kernelbench");
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return task;
  KRL_ASSIGN(std::vector<Task> tasks, tasks_of(file, components));
  return std::move(tasks.front());
}

}  // namespace

nlohmann::ordered_json to_json(const JudgedKernel& judged) {
  nlohmann::ordered_json json = {
      {"evaluation", nlohmann::ordered_json::parse(to_json_text(judged.evaluation))}};
  if (judged.kernelbench) json["kernelbench"] = to_json(*judged.kernelbench);
  return json;
}

Result<KernelJudges> KernelJudges::open(const CommandLine& line, Components& components) {
  EvaluateOptions options;
  if (line.has("contract")) options.contract = *named<Contract>(line.text("contract"));
  if (line.has("holdout")) options.stages |= KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;
  Words settings = line.texts("set");
  KRL_ASSIGN(const Backend* backend, open_backend(line.text("backend"), settings, components));
  const Backend *sanitizer = nullptr, *by_protocol = nullptr;
  if (line.has("sanitizer")) {
    KRL_ASSIGN(sanitizer, open_backend(line.text("sanitizer"), {}, components));
  }
  if (line.has("protocol")) {
    settings.push_back("protocol=" + line.text("protocol"));
    KRL_ASSIGN(by_protocol, open_backend(line.text("backend"), settings, components));
  }
  return KernelJudges(Judge(*backend, sanitizer), by_protocol, options, components);
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

Result<JudgedKernel> KernelJudges::judge(const Task& task, const std::string& source,
                                         std::optional<Contract> contract) {
  KRL_TRY(prepare(task));
  EvaluateOptions options = options_;
  options.contract = contract.value_or(options.contract);
  // An answer in Python, not a comment that names the class.
  if (("\n" + source).find("\nclass ModelNew") != std::string::npos)
    options.contract = Contract::kHost;
  KRL_ASSIGN(Evaluation evaluation, own_.evaluate(task, source, options));
  JudgedKernel judged{std::move(evaluation), {}};
  if (by_protocol_ != nullptr)
    judged.kernelbench = judge_by_protocol(task, source, options, judged.evaluation);
  return judged;
}

KernelBenchVerdict KernelJudges::judge_by_protocol(const Task& task, const std::string& source,
                                                   EvaluateOptions options, const Evaluation& own) {
  std::unique_lock lock(*mutex_);
  const auto published = as_published(task, *components_);
  lock.unlock();
  options.stages &= ~std::uint32_t{KRL_STAGE_HOLDOUT | KRL_STAGE_POOL};
  const auto again = published ? Judge(*by_protocol_).evaluate(*published, source, options)
                               : Result<Evaluation>(failure(published.error()));
  if (again) return kernelbench_verdict(own, *again);
  KernelBenchVerdict none;
  none.why = "not judged: " + again.error().message;
  return none;
}

}  // namespace krl::cli
