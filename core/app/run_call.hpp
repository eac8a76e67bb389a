// Runs a loaded plan with the display and the signals of the program. Main thread only.
#pragma once

#include "core/app/plan_call.hpp"

namespace krl {

// Returns the exit code.
int run_and_show(const LoadedPlan& loaded, bool resume);

}  // namespace krl
