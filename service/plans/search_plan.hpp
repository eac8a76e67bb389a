// The plan of a search at test time, made of what a caller names: tasks, a policy, a judge, a budget.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "service/plans/loaded_plan.hpp"

namespace krl::service {

// Empty texts name nothing.
struct SearchChoice {
  std::string tasks;            // the id of a built-in task, a task file, or a folder of them
  std::string plan;             // its policy, prompts and judge; if it only searches, all of it
  std::string from;             // RUN or RUN@STEP: what this run has learned, and its plan
  std::string policy;           // the id of another policy
  std::string endpoint, model;  // a model behind a server
  std::string backend;
  std::string name;  // name of the run
  std::optional<std::int64_t> kernels, tokens;
  std::optional<double> minutes, dollars;  // none of the four: the plan's budget
  bool resume = false;                     // go on with the weights and the budget of the run
  PlanOptions options;
};

Result<LoadedPlan> load_search_plan(SearchChoice choice);

}  // namespace krl::service
