#include "core/app/task_list.hpp"

#include <fmt/format.h>

#include <set>

#include "core/app/console.hpp"
#include "core/learn/setup.hpp"

namespace krl {
namespace {

class TaskList {
 public:
  void add(const StageData& data) {
    for (const Task& task : data.tasks) add(task, "train");
    for (const Holdout& holdout : data.holdouts) {
      for (const Task& task : holdout.tasks) add(task, "holdout/" + holdout.name);
    }
    if (!data.pairs.empty()) pairs_.insert(fmt::format("{} pairs (warmup)\n", data.pairs.size()));
  }

  std::string text() const {
    std::string out = rows_.size() > 1 ? columns(rows_) : std::string();
    for (const std::string& line : pairs_) out += line;
    return out;
  }

 private:
  void add(const Task& task, const std::string& set) {
    if (listed_.insert(set + " " + task.id).second)
      rows_.push_back({task.id, std::to_string(task.tier), set, task.title});
  }

  std::vector<std::vector<std::string>> rows_ = {{"TASK", "TIER", "SET", "TITLE"}};
  std::set<std::string> listed_, pairs_;
};

}  // namespace

Result<std::string> task_list(const LoadedPlan& loaded) {
  const CallScope scope;
  Components components(loaded.registry, scope);
  TaskList list;
  for (const Settings* settings : loaded.plan.in_force()) {
    KRL_ASSIGN(const StageData data, read_datasets(settings->datasets, components));
    list.add(data);
  }
  return list.text();
}

}  // namespace krl
