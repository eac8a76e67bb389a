// The problems that `kernelrl check` finds in a plan and the components that it names.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"

namespace krl::core {

// Checks what can be known without work: every component of the plan but its policies can be
// created, rewards and backend fit together. A fault of the plan is the error. A fault of this
// machine alone is not: a backend or dataset that cannot start here is among the results, and not
// held against the rewards. The same holds for a policy that only samples, and for a plan without
// stages: it can be evaluated, not run. Backends and datasets that start stay in `components`, for
// the run.
Result<std::vector<Error>> check_components(const Plan& plan, Components& components);

// Reads the datasets of every stage and checks that each finds what it learns from.
Status check_data(const Plan& plan, Components& components);

}  // namespace krl::core
