// Feedback: an evaluation in words, for the next turn's prompt and for people.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/task/answer.hpp"

namespace krl::core {

// Describes the evaluation in at most about 1,200 characters: the verdict; the first compiler
// errors with their source lines; which case failed and how; for a correct kernel its speed, its
// resources and one line of advice on the worst of them.
std::string describe_result(const Candidate& candidate, const Evaluation& evaluation);

// One line about the figure that is furthest from its limit: "Advice: registers spill; …". Empty
// if there is none. REQUIRES: the kernel passed.
std::string describe_advice(const Evaluation& evaluation);

// The parts of the first case's time with their shares of at least 5 %, the largest first; empty if
// they are not known. Their names: docs/values.md, `share_BOUND`.
std::vector<std::pair<std::string, double>> limits_of(const Evaluation& evaluation);

// "latency 62 %, dram 20 %"
std::string describe_limits(const Evaluation& evaluation);

// One line: what made the verdict, or the speed of a correct kernel.
std::string describe_briefly(const Evaluation& evaluation);

// Says what there is to gain for a correct kernel, in the same line: ", 0.31 of the roofline.
// Advice: …". Empty if nothing is known.
std::string describe_prospects(const Evaluation& evaluation);

// The techniques of the kernel, as executed and not as written.
std::vector<std::string_view> strategies_of(const Evaluation& evaluation);

// Lists the techniques of the kernel, as executed and not as written: "shared memory, warp
// shuffles". Empty if nothing is known.
std::string describe_strategies(const Evaluation& evaluation);

}  // namespace krl::core
