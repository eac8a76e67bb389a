// What `kernelrl check` finds in a plan and the components that it names.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"

namespace krl::core {

// Only what can be known without work: every component of the plan but its policies can be created,
// rewards and backend fit together. What is wrong with the plan is the error. What only this
// machine lacks is not: a backend or dataset that does not start for want of it is among the
// results, and not held against the rewards. Nor is a policy that only samples, or a plan
// without stages: it can be evaluated, not run. Backends and datasets that start stay in
// `components`, for the run.
Result<std::vector<Error>> check_components(const Plan& plan, Components& components);

}  // namespace krl::core
