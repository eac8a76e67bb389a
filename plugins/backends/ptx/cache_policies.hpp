// Checks which cache policies a function passes to its loads and stores. A policy is an opaque
// word; the result of arithmetic on one, or a constant, could be the policy that keeps lines in L2
// beyond the launch.
#pragma once

#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

// The instructions with an L2::cache_hint that is not certainly the result of a createpolicy, as it
// is or one of several.
std::vector<const Instruction*> uses_of_unknown_policies(const Function& function);

}  // namespace krl::ptx
