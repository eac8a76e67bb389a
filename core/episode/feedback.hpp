// Feedback: an evaluation in words, for the next turn's prompt and for people.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>

#include "core/task/answer.hpp"

namespace krl::core {

// Describes the evaluation in at most about 1,200 characters: the verdict; the first compiler
// errors with their source lines; which case failed and how; for a correct kernel its speed, its
// resources and one line of advice on the worst of them.
std::string describe_result(const Candidate& candidate, const Evaluation& evaluation);

// One line: what made the verdict, or the speed of a correct kernel.
std::string describe_briefly(const Evaluation& evaluation);

// Lists the techniques of the kernel, as executed and not as written: "shared memory, warp
// shuffles". Empty if nothing is known.
std::string describe_strategies(const Evaluation& evaluation);

}  // namespace krl::core
