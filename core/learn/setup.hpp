// The data and components of the stages of a run: components created from the plan, tasks and pairs
// read, everything checked.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/evaluations.hpp"
#include "core/episode/prompt.hpp"
#include "core/episode/retrieval.hpp"
#include "core/episode/score.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"
#include "core/plugin/dataset.hpp"

namespace krl::core {

// The items of a stage's datasets, read and checked. Every error names the dataset and stands at
// its place in the plan.

// A set of held-out tasks under the name of its dataset; each name once.
struct Holdout {
  std::string name;
  std::vector<Task> tasks;
};

struct StageData {
  std::vector<Task> tasks;  // of the role "train", each id once
  std::vector<Holdout> holdouts;
  std::vector<Pair> pairs;             // of the role "warmup"
  std::vector<std::string> warnings;   // of what is missing in them
  std::map<DatasetRole, Error> empty;  // the first dataset of that role that gave nothing for it
};

// Refuses a task whose definition cannot be read or is that of another one, and two tasks of one
// id. Leaves out the dataset of the role "retrieval", which is not read but searched.
Result<StageData> read_datasets(const std::vector<DatasetSettings>& datasets,
                                Components& components);

// Refuses data without the items that a stage of this kind learns from.
Status check_data(const StageSettings& stage, const StageData& data);

// One stage, ready to run.
struct StageSetup {
  const Backend* backend = nullptr;
  const Backend* sanitizer = nullptr;  // null: there is none
  StageData data;
  std::optional<PromptBuilder> prompts;
  std::unique_ptr<Retrieval> retrieval;  // null: prompts show no documents
  std::optional<Scorer> scorer;
  std::vector<std::string> terms;  // names of the reward terms

  Judge judge() const { return Judge(*backend, sanitizer); }
};

// Refuses batching that the policy cannot do.
Status check_batching(const ComponentSettings& sampler, const RolloutSettings& rollout,
                      const Registry& registry);

// Refuses, with the place in the plan, a reward that needs a signal which the backend does not
// give.
Result<StageSetup> set_up(const Settings& settings, Components& components);

// The tasks that a judge has checked, by id and definition.
using PreparedTasks = std::set<std::pair<std::string, std::string>>;

// Lets the backend check every task that is not among `prepared`, several at a time, and adds it
// there. All wrong ones are named; what is said of several is said once.
Status prepare_tasks(const StageSetup& setup, const Evaluations& evaluations,
                     PreparedTasks& prepared);

// Only what can be known without work: every component of the plan but its policies can be created,
// rewards and backend fit together. What is wrong with the plan is the error. What only this
// machine lacks is not: a backend or dataset that does not start for want of it is among the
// results, and not held against the rewards. Nor is a policy that only samples, or a plan
// without stages: it can be evaluated, not run. Backends and datasets that start stay in
// `components`, for the run.
Result<std::vector<Error>> check_components(const Plan& plan, Components& components);

}  // namespace krl::core
