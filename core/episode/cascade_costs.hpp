// The costs of the backends of a judge, where there are some before the backend that evaluates: values
// of each evaluation, and their sums. Pure.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>

#include "core/base/metrics.hpp"

namespace krl::core {

// The name of the value that tells how many milliseconds a backend spent: "cascade/cpu/ms".
std::string cost_name(const std::string& backend);

// The value of an evaluation that did not get to the last backend: the mean, so far, of what those
// took there that did.
inline constexpr const char* kSavedMs = "cascade/saved_ms";

// Adds the evaluation's values of these kinds to the sums of the same names.
void add_costs(const Evaluation& evaluation, Metrics& sums);

// "spent: cpu 4.10 s, nvrtc 12.03 s; saved: about 30.21 s\n"; empty if there are no sums.
std::string describe_costs(const Metrics& sums);

}  // namespace krl::core
