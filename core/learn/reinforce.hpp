// A reinforcement stage: sample, evaluate, score, learn; again until the stage's condition holds.
#pragma once

#include "core/learn/stage_context.hpp"

namespace krl {

Result<StageEnd> run_reinforcement(const StageContext& context);

}  // namespace krl
