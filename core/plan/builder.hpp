// Turns a resolved tree, in which nothing is wrong any more, into the value types of a plan.
#pragma once

#include "core/plan/plan.hpp"
#include "core/plan/resolver.hpp"

namespace krl {

// REQUIRES: `resolve` found no problem.
Plan build_plan(ResolvedTree tree);

// REQUIRES: `resolve_component` found no problem. `core_keys` do not become options.
ComponentSettings build_component(const Node& table, const std::vector<KeyRule>& core_keys);

}  // namespace krl
