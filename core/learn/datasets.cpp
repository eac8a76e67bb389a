#include "core/learn/datasets.hpp"

#include <fmt/format.h>

#include <iterator>
#include <kernelrl/task_definition.hpp>
#include <map>
#include <set>

#include "core/learn/component_error.hpp"
#include "core/learn/setup.hpp"
#include "core/plan/problem.hpp"

namespace krl {
namespace {

constexpr int kMostShown = 5;  // wrong tasks of a dataset

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

// What is wrong with a task; empty if nothing is.
std::string complaint_about(const Task& task) {
  if (task.id.empty()) return "a task has no id";
  const auto definition = parse_task_definition(task.definition_json);
  if (!definition) return fmt::format("task '{}': {}", task.id, definition.error());
  if (definition->id == task.id) return {};
  return fmt::format("task '{}': its definition is that of task '{}'", task.id, definition->id);
}

// Checks the definitions of tasks as they come; each text once.
class DefinitionCheck {
 public:
  void add(const Task& task) {
    if (!seen_.insert(task.id + '\n' + task.definition_json).second) return;
    const std::string complaint = complaint_about(task);
    if (complaint.empty() || ++wrong_ > kMostShown) return;
    complaints_ += fmt::format("{}{}", complaints_.empty() ? "" : "\n", complaint);
  }

  Status status(const DatasetSettings& dataset) const {
    if (wrong_ == 0) return {};
    const std::string more =
        wrong_ > kMostShown ? fmt::format("\nand {} more", wrong_ - kMostShown) : "";
    return failure(problem_at(dataset.origin,
                              fmt::format("dataset '{}': {}{}", dataset.use, complaints_, more)));
  }

 private:
  std::set<std::string> seen_;
  std::string complaints_;
  int wrong_ = 0;
};

Status check_unique(const std::vector<Task>& tasks, const DatasetSettings& dataset) {
  std::set<std::string> seen;
  for (const Task& task : tasks) {
    if (seen.insert(task.id).second) continue;
    return failure(
        problem_at(dataset.origin,
                   fmt::format("dataset '{}': two tasks are called '{}'", dataset.use, task.id),
                   dataset.options.contains("except")
                       ? "rename one, or leave one out with `except`"
                       : "rename one, or leave out the dataset that has it a second time"));
  }
  return {};
}

std::string what_it_gave(const DatasetItems& items) {
  if (!items.tasks.empty()) return "it gave tasks alone";
  if (!items.pairs.empty()) return "it gave pairs alone";
  if (items.documents > 0) return "it gave documents alone, for which there is no use yet";
  return "it has no items";
}

Error nothing_for_its_role(const DatasetSettings& dataset, const DatasetItems& items) {
  const char* const wanted = dataset.role == DatasetRole::kWarmup ? "pairs to learn from" : "tasks";
  const char* const hint = !items.tasks.empty()   ? "tasks are for role = \"train\""
                           : !items.pairs.empty() ? "pairs are for role = \"warmup\""
                                                  : "";
  return problem_at(
      dataset.origin,
      fmt::format("dataset '{}' has no {}: {}", dataset.use, wanted, what_it_gave(items)), hint);
}

class Reader {
 public:
  explicit Reader(Components& components) : components_(components) {}

  Status read(const DatasetSettings& settings) {
    KRL_ASSIGN(const Dataset dataset, components_.create<Dataset>(settings));
    Result<DatasetItems> items = dataset.read_all();
    if (!items) return failure(at_component(settings, std::move(items).error()));
    if (items->lost > 0) warn(settings, *items);
    return keep(settings, std::move(*items));
  }

  StageData take() { return std::move(data_); }

 private:
  void warn(const DatasetSettings& settings, const DatasetItems& items) {
    const std::size_t all = items.lost + items.tasks.size() + items.pairs.size() + items.documents;
    data_.warnings.push_back(fmt::format(
        "dataset '{}': {} of {} items could not be read and are left out, the first as {}",
        settings.use, items.lost, all, items.first_lost));
  }

  // What the dataset's role has a use for.
  Status keep(const DatasetSettings& settings, DatasetItems items) {
    const bool train = settings.role == DatasetRole::kTrain;
    const bool warmup = settings.role == DatasetRole::kWarmup;
    if ((warmup || items.tasks.empty()) && (train || items.pairs.empty()))
      data_.empty.emplace(settings.role, nothing_for_its_role(settings, items));
    DefinitionCheck check;
    if (!warmup) {
      for (const Task& task : items.tasks) check.add(task);
    }
    if (!train) {
      for (const Pair& pair : items.pairs) check.add(pair.task);
    }
    KRL_TRY(check.status(settings));
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
  for (const DatasetSettings& dataset : datasets) KRL_TRY(reader.read(dataset));
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

}  // namespace krl
