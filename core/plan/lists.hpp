// The lists of tables in a plan (dataset, reward, stage) under its layers: a layer's own list
// replaces what was there, the lists in its table `add` are appended: [[add.reward]]. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/plan/node.hpp"
#include "core/plan/problem.hpp"

namespace krl {

// Lays `layer` on `tables`, which are the whole plan (`stage` is null), or those in force during
// `stage`, or the table of `stage` itself: there, what is added to a list that the stage does not
// have waits in its `add`. A replaced list that loses elements is worth a line in `notes`. What
// cannot be added stays in the `add` of `tables`.
void lay(Node& tables, const Node& layer, const Node* stage, std::vector<std::string>& notes);

// Reports and removes what is left in the `add` of tables: those of the plan, or of a stage.
void refuse_additions(Node& tables, bool of_stage, std::vector<Problem>& problems);

}  // namespace krl
