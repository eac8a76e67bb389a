#include "core/app/task_list.hpp"

#include <fmt/format.h>

#include <set>
#include <tuple>

#include "core/app/console.hpp"
#include "core/learn/setup.hpp"

namespace krl {
Result<std::string> task_list(const LoadedPlan& loaded) {
  const CallScope scope;
  const Components components(loaded.registry, scope);
  std::vector<std::vector<std::string>> rows = {{"TASK", "TIER", "ROLE", "DATASET", "TITLE"}};
  std::string pairs;
  std::set<std::tuple<std::string, std::string, DatasetRole>> listed;
  for (const Settings* settings : loaded.plan.in_force()) {
    for (const DatasetSettings& d : settings->datasets) {
      if (!listed.insert({d.use, d.options.dump(), d.role}).second) continue;
      KRL_ASSIGN(const Dataset dataset, components.create<Dataset>(d));
      KRL_ASSIGN(const DatasetItems items, dataset.read_all());
      if (d.role == DatasetRole::kWarmup) {
        pairs += fmt::format("{} pairs of {} (warmup)\n", items.pairs.size(), d.use);
        continue;
      }
      const auto add = [&](const Task& task) {
        rows.push_back({task.id, std::to_string(task.tier),
                        d.role == DatasetRole::kTrain ? "train" : "holdout", d.use, task.title});
      };
      for (const Task& task : items.tasks) add(task);
      if (d.role == DatasetRole::kTrain) continue;
      for (const Pair& pair : items.pairs) add(pair.task);
    }
  }
  return (rows.size() > 1 ? columns(rows) : std::string()) + pairs;
}

}  // namespace krl
