#include "core/learn/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/log.hpp"
#include "core/learn/policies.hpp"
#include "core/plan/node.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/components.hpp"

namespace krl::core {
namespace {

constexpr int kMostShown = 5;  // wrong tasks of a dataset

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

// Reads the definitions of tasks as they come; each text once.
class Definitions {
 public:
  // A pair may do without a definition, unless earlier answers to it have to be evaluated.
  void read(Pair& pair) {
    if (!pair.task.definition_json.empty() || !pair.earlier.empty()) read(pair.task);
  }

  void read(Task& task) {
    const auto [known, is_new] = known_.try_emplace(task.id + '\n' + task.definition_json);
    if (is_new) known->second = facts_of_new(task);
    task.facts = known->second;
  }

  Status status(const DatasetSettings& dataset) const {
    if (wrong_ == 0) return {};
    const std::string more =
        wrong_ > kMostShown ? fmt::format("\nand {} more", wrong_ - kMostShown) : "";
    return failure(problem_at(dataset.origin,
                              fmt::format("dataset '{}': {}{}", dataset.use, complaints_, more)));
  }

 private:
  TaskFacts facts_of_new(const Task& task) {
    Result<TaskFacts> facts = task.id.empty() ? invalid("a task has no id") : facts_of(task);
    if (facts) return *std::move(facts);
    if (++wrong_ <= kMostShown)
      complaints_ += (complaints_.empty() ? "" : "\n") + facts.error().message;
    return {};
  }

  std::map<std::string, TaskFacts> known_;
  std::string complaints_;
  int wrong_ = 0;
};

Status check_unique(const std::vector<Task>& tasks, const DatasetSettings& dataset) {
  std::set<std::string> seen;
  for (const Task& task : tasks) {
    if (seen.insert(task.id).second) continue;
    return failure(problem_at(
        dataset.origin,
        fmt::format("dataset '{}': two tasks have the id '{}'", dataset.use, task.id),
        dataset.options.contains("except") ? "rename one, or exclude one with `except`"
                                           : "rename one, or remove the dataset that repeats it"));
  }
  return {};
}

std::string what_it_gave(const DatasetItems& items) {
  if (!items.tasks.empty()) return "it contains only tasks";
  if (!items.pairs.empty()) return "it contains only pairs";
  if (!items.documents.empty()) return "it contains only documents";
  return "it has no items";
}

Error nothing_for_its_role(const DatasetSettings& dataset, const DatasetItems& items) {
  const char* const wanted = dataset.role == DatasetRole::kWarmup ? "pairs to learn from" : "tasks";
  const char* const hint =
      !items.tasks.empty()   ? "tasks are for role = \"train\""
      : !items.pairs.empty() ? "pairs are for role = \"warmup\""
      : !items.documents.empty()
          ? "`kernelrl index build` makes an index of documents, which a "
            "[[dataset]] with use = \"index\" and role = \"retrieval\" searches"
          : "";
  return problem_at(
      dataset.origin,
      fmt::format("dataset '{}' has no {}: {}", dataset.use, wanted, what_it_gave(items)), hint);
}

class Reader {
 public:
  explicit Reader(Components& components) : components_(components) {}

  Status read(const DatasetSettings& settings) {
    KRL_ASSIGN(const Dataset* dataset, components_.dataset(settings));
    Result<DatasetItems> items = dataset->read_all();
    if (!items) return failure(at_component(settings, std::move(items).error()));
    if (items->lost > 0) warn(settings, *items);
    return keep(settings, std::move(*items));
  }

  StageData take() { return std::move(data_); }

 private:
  void warn(const DatasetSettings& settings, const DatasetItems& items) {
    const std::size_t all =
        items.lost + items.tasks.size() + items.pairs.size() + items.documents.size();
    data_.warnings.push_back(fmt::format(
        "dataset '{}': {} of {} items could not be read and are skipped, the first because: {}",
        settings.use, items.lost, all, items.first_lost));
  }

  // What the dataset's role has a use for.
  Status keep(const DatasetSettings& settings, DatasetItems items) {
    const bool train = settings.role == DatasetRole::kTrain;
    const bool warmup = settings.role == DatasetRole::kWarmup;
    if ((warmup || items.tasks.empty()) && (train || items.pairs.empty()))
      data_.empty.emplace(settings.role, nothing_for_its_role(settings, items));
    Definitions definitions;
    if (!warmup) {
      for (Task& task : items.tasks) definitions.read(task);
    }
    for (Pair& pair : items.pairs) {
      if (warmup) definitions.read(pair);
      if (!warmup && !train) definitions.read(pair.task);
    }
    KRL_TRY(definitions.status(settings));
    if (warmup) {
      append(data_.pairs, std::move(items.pairs));
    } else if (train) {
      append(data_.tasks, std::move(items.tasks));
      return check_unique(data_.tasks, settings);
    } else {
      keep_holdout(settings, std::move(items));
    }
    return {};
  }

  // The tasks of its pairs included.
  void keep_holdout(const DatasetSettings& settings, DatasetItems items) {
    const int number = ++sets_[settings.use];
    Holdout holdout{number == 1 ? settings.use : fmt::format("{}_{}", settings.use, number),
                    std::move(items.tasks)};
    for (Pair& pair : items.pairs) holdout.tasks.push_back(std::move(pair.task));
    data_.holdouts.push_back(std::move(holdout));
  }

  Components& components_;
  StageData data_;
  std::map<std::string, int> sets_;  // held-out ones of each dataset
};

}  // namespace

Result<StageData> read_datasets(const std::vector<DatasetSettings>& datasets,
                                Components& components) {
  Reader reader(components);
  for (const DatasetSettings& dataset : datasets)
    if (dataset.role != DatasetRole::kRetrieval) KRL_TRY(reader.read(dataset));
  return reader.take();
}

Status check_data(const StageSettings& stage, const StageData& data) {
  const bool learns_pairs = stage.kind == StageKind::kSft;
  if (learns_pairs ? !data.pairs.empty() : !data.tasks.empty()) return {};
  const auto empty = data.empty.find(learns_pairs ? DatasetRole::kWarmup : DatasetRole::kTrain);
  if (empty != data.empty.end()) return failure(empty->second);
  if (learns_pairs) {
    return failure(
        problem_at(stage.origin, fmt::format("stage '{}' has no pairs to learn from", stage.name),
                   "add a [[dataset]] with role = \"warmup\", such as use = \"templates\""));
  }
  return failure(problem_at(stage.origin, fmt::format("stage '{}' has no tasks", stage.name),
                            "add a [[dataset]] with role = \"train\", such as use = \"tasks\""));
}

namespace {

Status check_signals(const RewardSettings& settings, const Component& reward,
                     const ComponentSettings& backend, const BackendInfo& info) {
  const std::uint32_t missing = reward.needs() & ~info.signals;
  if (missing == 0) return {};
  return failure(
      problem_at(settings.origin,
                 fmt::format("reward '{}' needs {}, which backend '{}' does not measure",
                             settings.use, signal_names(missing), backend.use),
                 fmt::format("remove this term, or choose another backend   '{}' measures: {}",
                             backend.use, signal_names(info.signals))));
}

Status check_contract(const ComponentSettings& backend, Contract contract, const char* hint,
                      const Registry& registry) {
  KRL_ASSIGN(const Component* component, registry.require(Kind::kBackend, backend.use));
  const Status takes = Backend::check_contract(*component, contract);
  if (takes) return {};
  return failure(problem_at(backend.origin, takes.error().message, hint));
}

Status check_contract(const Settings& settings, const Registry& registry) {
  const Contract contract = settings.rollout.contract;
  KRL_TRY(check_contract(
      settings.backend, contract,
      "set rollout.contract = \"device\", or use a backend that compiles host code, such as 'nvcc'",
      registry));
  if (!settings.backend.sanitizer) return {};
  return check_contract(*settings.backend.sanitizer, contract,
                        "remove [backend.sanitizer], or set rollout.contract = \"device\"",
                        registry);
}

// `info`: null if the backend cannot be asked.
Result<PromptBuilder> load_prompts(const Settings& settings, const BackendInfo* info) {
  TimedOn timed_on;
  if (info != nullptr) timed_on = {info->device, info->real_sizes};
  return PromptBuilder::load(settings.prompt.templates, settings.prompt.system,
                             settings.rollout.contract, std::move(timed_on));
}

// The dataset of the role "retrieval"; null if there is none.
Result<std::unique_ptr<Retrieval>> open_retrieval(const Settings& settings,
                                                  const PromptBuilder& prompts,
                                                  Components& components) {
  const auto& datasets = settings.datasets;
  const auto found = std::find_if(datasets.begin(), datasets.end(), [](const auto& dataset) {
    return dataset.role == DatasetRole::kRetrieval;
  });
  if (found == datasets.end()) return nullptr;
  KRL_ASSIGN(const Component* component, components.registry().require(Kind::kDataset, found->use));
  if (!Dataset::can_find(*component)) {
    return failure(problem_at(
        found->origin, fmt::format("dataset '{}' cannot be searched for documents", found->use),
        "build an index of its documents with `kernelrl index build`, and use = \"index\""));
  }
  if (!prompts.can_show_documents()) {
    return failure(problem_at(
        found->origin, "the plan's prompts have no place for documents",
        "add a line {{documents}} to task.txt in the folder of prompt.templates, and a file document.txt such as prompts/default has"));
  }
  KRL_ASSIGN(const Dataset* dataset, components.dataset(*found));
  return std::make_unique<Retrieval>(*dataset, settings.retrieval);
}

// `info`: null if what the backend measures is not known.
Result<Scorer> create_scorer(const Settings& settings, const BackendInfo* info,
                             Components& components) {
  std::vector<RewardTerm> terms;
  for (const RewardSettings& r : settings.rewards) {
    KRL_ASSIGN(Reward reward, components.create<Reward>(r));
    if (info != nullptr) {
      KRL_TRY(check_signals(r, reward.component(), settings.backend, *info));
    }
    terms.push_back({std::move(reward), r.name, r.weight, r.when});
  }
  return Scorer(std::move(terms));
}

// Keeps what only this machine lacks: something is missing or does not answer, and the plan is not
// to blame. Any other error is passed on.
Status note_missing(const Error& error, std::map<std::string, Error>& missing) {
  if (error.code != Code::kFailedPrecondition && error.code != Code::kUnavailable)
    return failure(error);
  missing.emplace(error.message, error);
  return {};
}

Status check_datasets(const std::vector<DatasetSettings>& datasets, Components& components,
                      std::map<std::string, Error>& missing) {
  for (const DatasetSettings& settings : datasets) {
    if (settings.role == DatasetRole::kRetrieval) continue;
    const auto dataset = components.dataset(settings);
    if (!dataset) KRL_TRY(note_missing(dataset.error(), missing));
  }
  return {};
}

Status check_settings(const Settings& settings, const Plan& plan, Components& components,
                      std::map<std::string, Error>& missing) {
  KRL_TRY(check_contract(settings, components.registry()));
  KRL_TRY(check_batching(plan.policy.who_samples(), settings.rollout, components.registry()));
  const Result<const Backend*> backend = components.backend(settings.backend);
  if (!backend) KRL_TRY(note_missing(backend.error(), missing));
  if (settings.backend.sanitizer) {
    const auto sanitizer = components.backend(*settings.backend.sanitizer);
    if (!sanitizer) KRL_TRY(note_missing(sanitizer.error(), missing));
  }
  const BackendInfo* info = backend ? &(*backend)->info() : nullptr;
  KRL_TRY(create_scorer(settings, info, components));
  KRL_TRY(check_datasets(settings.datasets, components, missing));
  KRL_ASSIGN(const PromptBuilder prompts, load_prompts(settings, info));
  const auto retrieval = open_retrieval(settings, prompts, components);
  return retrieval ? Status() : note_missing(retrieval.error(), missing);
}

void warn_of_limit(const Backend& backend) {
  const BackendInfo& info = backend.info();
  if (info.declared <= CallScope::kMostThreads || info.concurrency < CallScope::kMostThreads)
    return;
  log(Severity::kWarning,
      fmt::format(
          "backend '{}' asks for {} concurrent evaluations and gets {}, the maximum that run.threads allows",
          backend.component().id, info.declared, info.concurrency));
}

Error no_stages(const Plan& plan) {
  return problem_at(plan.document->origin, "a plan needs at least one [[stage]] to be run",
                    "add [[stage]] with name, kind = \"rl\" and iterations; `kernelrl eval --plan` "
                    "evaluates a policy without any");
}

// Each message once, with the tasks that it was said of.
std::string describe_refused(const std::map<std::string, std::vector<std::string>>& refused) {
  constexpr std::size_t kMostNamed = 5;
  std::string text;
  for (const auto& [message, tasks] : refused) {
    const auto end = tasks.begin() + std::min(tasks.size(), kMostNamed);
    const bool all = end == tasks.end();
    text += fmt::format("{}{} (task{} {}{})", text.empty() ? "" : "\n", message,
                        tasks.size() == 1 ? "" : "s", fmt::join(tasks.begin(), end, ", "),
                        all ? "" : fmt::format(" and {} more", tasks.size() - kMostNamed));
  }
  return text;
}

}  // namespace

Status check_batching(const ComponentSettings& sampler, const RolloutSettings& rollout,
                      const Registry& registry) {
  if (rollout.batching != Batching::kContinuous) return {};
  KRL_ASSIGN(const Component* component, registry.require(Kind::kPolicy, sampler.use));
  if (Policy::can_stream(*component)) return {};
  return failure(problem_at(
      sampler.origin,
      fmt::format(
          "policy '{}' cannot accept new requests while it answers others, which rollout.batching = \"continuous\" requires",
          sampler.use),
      "set rollout.batching = \"waves\", or choose another policy"));
}

Result<StageSetup> set_up(const Settings& settings, Components& components) {
  StageSetup setup;
  KRL_TRY(check_contract(settings, components.registry()));
  KRL_ASSIGN(setup.backend, components.backend(settings.backend));
  if (settings.backend.sanitizer) {
    KRL_ASSIGN(setup.sanitizer, components.backend(*settings.backend.sanitizer));
  }
  warn_of_limit(*setup.backend);
  const BackendInfo* info = &setup.backend->info();
  KRL_ASSIGN(setup.prompts, load_prompts(settings, info));
  KRL_ASSIGN(setup.retrieval, open_retrieval(settings, *setup.prompts, components));
  KRL_ASSIGN(setup.scorer, create_scorer(settings, info, components));
  for (const RewardTerm& term : setup.scorer->terms()) setup.terms.push_back(term.name);
  KRL_ASSIGN(setup.data, read_datasets(settings.datasets, components));
  return setup;
}

Status prepare_tasks(const StageSetup& setup, const Evaluations& evaluations,
                     PreparedTasks& prepared) {
  std::vector<const Task*> tasks;
  const auto add = [&](const Task& task) {
    if (prepared.emplace(task.id, task.definition_json).second) tasks.push_back(&task);
  };
  for (const Task& task : setup.data.tasks) add(task);
  for (const Holdout& holdout : setup.data.holdouts) {
    for (const Task& task : holdout.tasks) add(task);
  }
  std::vector<Status> results(tasks.size());
  evaluations.side_by_side(tasks.size(),
                           [&](std::size_t i) { results[i] = evaluations.prepare(*tasks[i]); });
  std::map<std::string, std::vector<std::string>> refused;  // tasks by what is said of them
  Code code = Code::kOk;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (results[i]) continue;
    code = results[i].error().code;
    refused[results[i].error().message].push_back(tasks[i]->id);
  }
  if (code == Code::kOk) return {};
  return failure(code, describe_refused(refused));
}

Result<std::vector<Error>> check_components(const Plan& plan, Components& components) {
  const Registry& registry = components.registry();
  std::map<std::string, Error> missing;  // by message
  for (const Settings* settings : plan.in_force()) {
    KRL_TRY(check_settings(*settings, plan, components, missing));
  }
  KRL_ASSIGN(const PolicyInfos infos, preview(plan.policy, registry));
  const Status trainable = check_trainable(plan.policy, infos);
  if (trainable) KRL_TRY(check_policies(plan, infos, registry));
  std::vector<Error> errors;
  if (!trainable) errors.push_back(trainable.error());
  if (plan.stages.empty()) errors.push_back(no_stages(plan));
  for (auto& [message, error] : missing) errors.push_back(std::move(error));
  return errors;
}

}  // namespace krl::core
