// Training samples: the turns of an iteration's episodes that are learned from, each with its
// advantage.
#pragma once

#include <cstdint>
#include <vector>

#include "core/episode/episode.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl {

struct SampleSet {
  std::vector<Example> examples;  // in the order of the episodes
  int groups = 0;
  int zero_variance = 0;  // groups left out because all their returns are the same
  int too_small = 0;      // groups left out because fewer than two members were left
  int truncated = 0;      // answers that ran into their length limit
};

// A turn as a sample, without advantages yet; its score. Truncated answers are masked (weight 0),
// or scored 0, as `truncated` says.
Example example_of(const TurnRecord& turn, Truncated truncated);
double score_of(const TurnRecord& turn, Truncated truncated);

// Each turn is a sample of its own. Turns that ended in an infrastructure error are left out, and
// the returns of their episodes are those of the other turns.
// REQUIRES: an advantage of groups.
SampleSet select_samples(const std::vector<Episode>& episodes, const LearnSettings& settings);

// The examples in `count` parts of nearly the same number, shuffled by `seed`; empty parts are left
// out.
std::vector<std::vector<Example>> minibatches(std::vector<Example> examples, std::int64_t count,
                                              std::uint64_t seed);

// The number of tokens that a loss over these examples counts: those with a weight other than 0.
double weighted_tokens(const std::vector<Example>& examples);

}  // namespace krl
