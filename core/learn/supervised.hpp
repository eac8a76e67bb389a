// A supervised stage: learns from pairs by cross entropy. An iteration is `log_every` optimiser
// steps.
#pragma once

#include <vector>

#include "core/learn/stage_context.hpp"
#include "core/learn/warm_start.hpp"

namespace krl {

Result<StageEnd> run_supervised(const StageContext& context, const std::vector<Lesson>& lessons);

}  // namespace krl
