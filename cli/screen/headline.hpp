// Renders metrics for a screen: which ones, numbers, durations. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/screen/display.hpp"
#include "core/run/metrics.hpp"

namespace krl::cli {
using namespace core;

inline constexpr std::size_t kMostMetrics = 6;  // metrics of an iteration on the screen

// Returns the names worth a place on the screen, in a fixed order, at most `most`: those of the
// list in headline.cpp that exist, or else the first repeatable ones.
std::vector<std::string> headline(const Metrics& values, std::size_t most);

// The losses of an iteration, "infra_errors 3  sampler/lost 1"; empty if nothing was.
std::string losses_text(const Metrics& values);

// The best kernels so far, "best kernels  1.84 times naive, of 6 tasks; softmax_rows 4.21"; empty if
// there are none.
std::string best_text(const Metrics& values);

// Describes the consequence if the user asks the run to end. `stage`: the one in progress, nameless
// before the first; `now`: its present activity.
std::string stopping_text(bool at_once, const StageInfo& stage, const Progress& now);

std::string number_text(double value);      // "0.6250", "1.234e+06"
std::string duration_text(double seconds);  // "8.3 s", "3 min 20 s", "1 h 05 min"
std::string clock_text(double seconds);     // "0:08", "12:05", "1:02:05"

}  // namespace krl::cli
