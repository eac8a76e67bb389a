// The items of a stage's datasets, read and checked. Every error names the dataset and its place in
// the plan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"
#include "core/plugin/dataset.hpp"

namespace krl::core {

// A set of held-out tasks under the name of its dataset; each name once.
struct Holdout {
  std::string name;
  std::vector<Task> tasks;
};

struct StageData {
  std::vector<Task> tasks;  // tasks of the role "train", each id once
  std::vector<Holdout> holdouts;
  std::vector<Pair> pairs;             // pairs of the role "warmup"
  std::vector<std::string> warnings;   // warnings of missing items
  std::map<DatasetRole, Error> empty;  // the first dataset of that role that gave nothing for it
};

// Refuses a task whose definition cannot be read or is that of another one, and two tasks of one
// id. Leaves out the dataset of the role "retrieval", which is not read but searched.
Result<StageData> read_datasets(const std::vector<DatasetSettings>& datasets,
                                Components& components);

// Refuses data without the items that a stage of this kind learns from.
Status check_data(const StageSettings& stage, const StageData& data);

}  // namespace krl::core
