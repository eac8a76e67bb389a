// The runs on which two candidates are compared with each other: many more than an evaluation has,
// so that what is the same in all of them is taken to be the same. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/evaluator/check/case_data.hpp"

namespace krl::evaluator {

// Each case in every distribution, in all orders in turn. The runs are the same
// for all candidates and differ from those of any evaluation.
std::vector<PlannedRun> plan_proof(const PreparedTask& asked, std::uint64_t seed);

}  // namespace krl::evaluator
