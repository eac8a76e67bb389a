// The problems that `kernelrl check` finds in a plan and the components that it names.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/components.hpp"
#include "core/stage/stage_data.hpp"

namespace krl::core {

// The reasons why a plan without errors cannot be run.
struct Obstacles {
  std::vector<Problem>
      learning;                // its policy only samples, or it has no stages: it can be evaluated
  std::vector<Error> machine;  // backends or datasets that cannot start here
};

// Checks what can be known without work: every component of the plan but its policies can be
// created, rewards and backend fit together. A fault of the plan is the error. What cannot start
// here is not held against the rewards. Backends and datasets that start stay in `components`, for
// the run.
Result<Obstacles> check_components(const Plan& plan, Components& components);

// The same for a plan that is to be run: any obstacle is the error.
Status check_runnable(const Plan& plan, Components& components);

// Reads the datasets of every stage and checks that each finds what it learns from.
Result<std::vector<StageData>> check_data(const Plan& plan, Components& components);

}  // namespace krl::core
