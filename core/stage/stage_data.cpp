#include "core/stage/stage_data.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/plan/source.hpp"

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
      !items.tasks.empty()
          ? "tasks are for role = \"train\"; with pairs = true, the dataset 'tasks' "
            "gives the tasks' kernels as pairs"
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

  // Keeps the items that the dataset's role uses.
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

}  // namespace krl::core
