// What tests read from a run's folder while it is written and afterwards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/run/metrics.hpp"

namespace krl::test {
using namespace core;

// The whole lines of metrics.jsonl so far, without what is not repeatable. Empty where there is no
// such file yet.
std::vector<IterationMetrics> metrics_in(const std::filesystem::path& run);

// The same as text, one line an iteration: equal for two runs that did the same.
std::vector<std::string> repeatable_lines(const std::filesystem::path& run);

// The values of one metric, of the iterations that have it.
std::vector<double> values_of(const std::vector<IterationMetrics>& metrics,
                              const std::string& name);

// The last iteration of the newest checkpoint; 0 where there is none.
int newest_checkpoint(const std::filesystem::path& run);

}  // namespace krl::test
