// The runs of an evaluation, and the treatment of fresh cases. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::evaluator {

// Plans the runs of the cases that an evaluation is asked for (select_cases), in their order. If
// there are cases of real size, those count and the small ones do not; each is run once as given,
// on inputs that all candidates share, and once more with another distribution (plan_at_real_size).
std::vector<PlannedRun> plan_evaluation(const PreparedTask& asked, std::size_t runs_per_case,
                                        const RunSeeds& seeds);

// Returns the distribution, or a replacement with which right kernels of the task differ no more
// than it allows.
Distribution suited(Distribution distribution, const TaskDefinition& task);

// Fresh cases that a candidate cannot be launched at, by their index, and why.
using Obstacles = std::map<std::size_t, std::string>;

// Settles the fresh cases after all runs but those of `obstacles`: a launch that cannot happen at a
// fresh shape has failed there; and if a shown shape failed, the fresh ones are not reported.
void settle_fresh_cases(const PreparedTask& asked, const Obstacles& obstacles,
                        EvaluationRecord* record);

}  // namespace krl::evaluator
