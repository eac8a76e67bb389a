// The earnings of a kernel in an agent's benchmark, as its verifier reports them. Pure.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>

namespace krl::service {

// {"reward": 1.7, "compiled": 1, "correct": 1, "speedup": 1.7}, all of them finite numbers. `reward`
// is 0 for a kernel that is not right, else its speedup over the naive kernel, or 1 if it has none;
// `speedup` is left out if nothing was timed. REQUIRES: a verdict on the kernel.
std::string verifier_reward(const Evaluation& evaluation);

}  // namespace krl::service
