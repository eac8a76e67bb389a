// The tasks of a plan, as `kernelrl check PLAN --tasks` lists them. Main thread only.
#pragma once

#include <string>

#include "core/app/plan_call.hpp"

namespace krl {

// A row for each task that is trained on or held out, and how many pairs there are to warm up on;
// what several stages share stands there once. Reads the datasets.
Result<std::string> task_list(const LoadedPlan& loaded);

}  // namespace krl
