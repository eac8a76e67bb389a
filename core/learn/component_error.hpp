// Where an error of a component is shown: at what is wrong in the plan. Pure functions.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace krl {

// The error at its place in the plan: at the option that its text is about, or else at the
// component's `use`. It is about an option if it begins with its key ("layers must be even",
// "model.heads is 3", "'path': not there") or quotes it; or else if it holds the path that the
// option gives. Only what the plan gives can be wrong there, never a default. The error keeps its
// code.
Error at_component(const ComponentSettings& settings, Error error);

}  // namespace krl
