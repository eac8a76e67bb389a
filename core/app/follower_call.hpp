// Plans that several processes run together. Main thread only.
#pragma once

#include <optional>

#include "core/app/plan_call.hpp"

namespace krl {

// Where this process is there only to serve the plan's policy in another one (as a rank other than
// 0 of a training): serves until that one is done, and gives the exit code. It evaluates nothing
// and writes nothing. Empty where this process runs the plan itself.
std::optional<int> serve_as_follower(const LoadedPlan& loaded);

}  // namespace krl
