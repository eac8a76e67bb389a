#include "service/kernels/kernel_judges.hpp"

#include <iterator>
#include <kernelrl/evaluation_json.hpp>
#include <sstream>

#include "core/base/hash.hpp"
#include "core/plan/loader.hpp"
#include "service/kernels/tasks.hpp"

namespace krl::service {
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

// An answer in Python, not a comment that names the class.
bool is_python(const std::string& source) {
  return ("\n" + source).find("\nclass ModelNew") != std::string::npos;
}

// "nvrtc execute=off arch=sm_90a": an id, then changes of its options.
Result<ComponentSettings> described_backend(const std::string& text, const Catalog& catalog) {
  std::istringstream words(text);
  std::string id;
  words >> id;
  return configure_component(Kind::kBackend, id, {std::istream_iterator<std::string>(words), {}},
                             catalog);
}

// True of errors that another try may not have.
bool may_pass(Code code) {
  return code == Code::kCancelled || code == Code::kDeadlineExceeded || code == Code::kUnavailable;
}

}  // namespace

nlohmann::ordered_json to_json(const JudgedKernel& judged) {
  nlohmann::ordered_json json = {
      {"evaluation", nlohmann::ordered_json::parse(to_json_text(judged.evaluation))}};
  if (judged.kernelbench) json["kernelbench"] = to_json(*judged.kernelbench);
  return json;
}

Result<BackendSettings> backend_settings(const std::string& id,
                                         const std::vector<std::string>& changes,
                                         const std::vector<std::string>& before,
                                         const std::string& sanitizer, const Registry& registry) {
  const Catalog catalog = registry.catalog();
  BackendSettings settings;
  KRL_ASSIGN(static_cast<ComponentSettings&>(settings),
             configure_component(Kind::kBackend, id, changes, catalog));
  for (const std::string& text : before) {
    KRL_ASSIGN(ComponentSettings one, described_backend(text, catalog));
    settings.before.push_back(std::move(one));
  }
  if (!sanitizer.empty()) {
    KRL_ASSIGN(settings.sanitizer, configure_component(Kind::kBackend, sanitizer, {}, catalog));
  }
  return settings;
}

Result<KernelJudges> KernelJudges::open(const JudgeOptions& options, Components& components) {
  EvaluateOptions evaluate;
  evaluate.contract = options.contract.value_or(evaluate.contract);
  if (options.holdout) evaluate.stages |= KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;
  KRL_ASSIGN(const JudgeBackends backends, open_backends(options.backend, components));
  const Backend* by_protocol = nullptr;
  if (!options.protocol.empty()) {
    ComponentSettings settings = options.backend;
    if (!settings.options.contains("protocol"))
      return invalid("backend '" + settings.use + "' has no option 'protocol'");
    settings.options["protocol"] = options.protocol;
    KRL_ASSIGN(by_protocol, components.backend(settings));
  }
  return KernelJudges(Judge(backends), by_protocol, evaluate, components);
}

Status KernelJudges::prepare(const Task& task, const EvaluateOptions& options) {
  const auto prepared =
      prepared_->find_or_keep(sha256_hex(task.definition_json), std::make_shared<Prepared>());
  const std::lock_guard preparing(prepared->mutex);
  if (prepared->status) return *prepared->status;
  Status status = own_.prepare(task, options);
  if (status || !may_pass(status.error().code)) prepared->status = status;
  return status;
}

Result<JudgedKernel> KernelJudges::judge(const Task& task, const std::string& source,
                                         EvaluateOptions options) {
  KRL_TRY(prepare(task, options));
  if (is_python(source)) options.contract = Contract::kHost;
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
  const auto again = published ? Judge({{}, by_protocol_}).evaluate(*published, source, options)
                               : Result<Evaluation>(failure(published.error()));
  if (again) return kernelbench_verdict(own, *again);
  KernelBenchVerdict none;
  none.why = "not judged: " + again.error().message;
  return none;
}

}  // namespace krl::service
