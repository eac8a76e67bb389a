// Plans that are run by the program. Main thread only.
#pragma once

#include <optional>

#include "service/plans/loaded_plan.hpp"

namespace krl::cli {
using namespace service;

// Checks a plan's components, then runs it with the display and the signals of the program; returns
// the exit code.
int run_and_show(const LoadedPlan& loaded, bool resume);

// If this process exists only to serve the plan's policy in another one (as a rank other than 0 of
// a training): serves until that one is done, and returns the exit code. It evaluates nothing and
// writes nothing. Empty if this process runs the plan itself.
std::optional<int> serve_as_follower(const LoadedPlan& loaded);

}  // namespace krl::cli
