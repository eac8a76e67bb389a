#include "core/stage/task_preparation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace krl::core {
namespace {

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
  std::map<std::string, std::vector<std::string>> refused;  // refused tasks, by their message
  Code code = Code::kOk;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (results[i]) continue;
    code = results[i].error().code;
    refused[results[i].error().message].push_back(tasks[i]->id);
  }
  if (code == Code::kOk) return {};
  return failure(code, describe_refused(refused));
}

}  // namespace krl::core
