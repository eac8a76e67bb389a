// Turns a resolved tree, in which nothing is wrong any more, into the value types of a plan.
#pragma once

#include "core/plan/plan.hpp"
#include "core/plan/resolver.hpp"

namespace krl {

// REQUIRES: `resolve` found no problem.
Plan build_plan(ResolvedTree tree);

}  // namespace krl
