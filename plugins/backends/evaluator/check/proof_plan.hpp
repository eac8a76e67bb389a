// Plans the runs on which two candidates are compared with each other: many more than an evaluation
// has, so that results which agree in all of them are taken to be the same. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/evaluator/check/case_data.hpp"

namespace krl::evaluator {

// Plans each case in every distribution, in all orders in turn. The runs are the same for all
// candidates and differ from those of any evaluation.
std::vector<PlannedRun> plan_proof(const PreparedTask& asked, std::uint64_t seed);

}  // namespace krl::evaluator
