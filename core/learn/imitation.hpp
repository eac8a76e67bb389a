// Imitation of an archive: its fastest kernels as supervised examples, which are learned beside
// those of an iteration, so that what was found is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/prompt.hpp"
#include "core/learn/archive.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// The `count` fastest kernels of each task of the episodes, as answers to its first prompt; none
// that is longer than `context_tokens` (0: no limit).
Result<std::vector<Example>> examples_to_imitate(const Archive& archive,
                                                 const std::vector<Episode>& episodes,
                                                 std::int64_t count, const PromptBuilder& prompts,
                                                 const Policy& policy, std::int64_t context_tokens);

// Adds to the next optimiser step `weight` times the mean cross entropy of the batch, which is
// returned. To be called before the step's other losses.
Result<double> imitate(const Policy& policy, const Batch& batch, double weight);

}  // namespace krl::core
