// Feedback: an evaluation in words, for the next turn's prompt and for people.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>

#include "core/task/answer.hpp"

namespace krl::core {

// At most about 1,200 characters: the verdict; the first compiler errors with their source lines;
// which case failed and how; when correct, speed, resources and one line of advice from what is
// worst.
std::string describe_result(const Candidate& candidate, const Evaluation& evaluation);

// One line: what made the verdict, or the speed of a correct kernel.
std::string describe_briefly(const Evaluation& evaluation);

// What the kernel tried, as executed and not as written: "shared memory, warp shuffles". Empty if
// nothing is known.
std::string describe_strategies(const Evaluation& evaluation);

}  // namespace krl::core
