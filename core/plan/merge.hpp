// How one layer of a plan is laid on another. Pure.
#pragma once

#include <string>

#include "core/plan/node.hpp"

namespace krl {

// Lays `over` on `base`: tables are merged key by key, everything else is replaced. Where `over`
// chooses another component (`use`), loss (`learn.loss.name`) or schedule, what the old choice had
// as options goes away with it. `path` is the dotted name of the table, "" for the whole plan.
void merge(Node& base, const Node& over, const std::string& path = {});

}  // namespace krl
