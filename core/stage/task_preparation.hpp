// The check of a stage's tasks by its judge, before the first is trained on.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "core/episode/evaluations.hpp"
#include "core/stage/stage_setup.hpp"

namespace krl::core {

// The tasks that a judge has checked, by id and definition.
using PreparedTasks = std::set<std::pair<std::string, std::string>>;

// Lets the backend check every task that is not among `prepared`, several at a time, and adds it
// there. All wrong tasks are named; a message on several is printed once.
Status prepare_tasks(const StageSetup& setup, const Evaluations& evaluations,
                     PreparedTasks& prepared);

}  // namespace krl::core
