// Training examples: the turns of an iteration's episodes that are learned from, each with its
// advantage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/episode/episode.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// Returns 0 … n−1 in an order drawn from `seed` (Fisher-Yates over splitmix64), the same with every
// standard library.
std::vector<std::size_t> permutation(std::size_t n, std::uint64_t seed);

// The turns of an episode that have a return, in order, and their scores. Left out are
// infrastructure errors and, since their score is unknown, the earlier turns whose returns would
// include it.
struct ScoredTurns {
  std::size_t first = 0;  // index among the episode's turns
  std::vector<const TurnRecord*> turns;
  std::vector<double> scores;
  int lost_future = 0;
};
ScoredTurns scored_turns(const Episode& episode, const LearnSettings& settings);

struct TrainingSet {
  std::vector<Example> examples;  // in the order of the episodes
  int turns = 0;                  // turns that were scored, learned from or not
  int groups = 0;
  int zero_variance = 0;  // groups left out because all their returns are the same
  int below_noise = 0;    // groups left out because their returns differ by less than min_spread
  int too_small = 0;      // groups left out because fewer than two episodes were left
  int truncated = 0;      // answers that ran into their length limit
  int lost_future = 0;    // turns left out because a later one of their episode was lost
  // Sums of the sizes of advantages: what right and wrong kernels of a group have on average is due
  // to correctness, by how much right ones differ from their average is due to speed.
  double by_correctness = 0, by_speed = 0;

  // Counts the turns of an episode.
  void count(const ScoredTurns& scored);
};

// A turn as an example, without advantages yet. Truncated answers are masked (weight 0), or scored
// 0 at most, as `truncated` says.
Example example_of(const TurnRecord& turn, Truncated truncated);
bool is_masked(const TurnRecord& turn, Truncated truncated);

// Each turn is an example of its own. Turns that are masked are no members of their group: they
// would shift the advantages of the others.
// REQUIRES: an advantage of groups.
TrainingSet select_examples(const std::vector<Episode>& episodes, const LearnSettings& settings);

// The groups (Episode::group) of which something can be learned: of some turn the returns differ.
std::set<GroupId> groups_that_differ(const std::vector<Episode>& episodes,
                                     const LearnSettings& settings);

// Returns how many optimiser steps an epoch of `examples` has: `minibatches` if they are as many as
// the iteration's `turns`, fewer in proportion, and at least one. So if fewer examples are left,
// the steps are fewer, not smaller.
std::int64_t steps_of_epoch(std::size_t examples, double turns, std::int64_t minibatches);

// The examples, which are borrowed, in `count` parts of nearly the same number, shuffled by `seed`;
// empty parts are left out.
std::vector<Batch> minibatches(const std::vector<Example>& examples, std::int64_t count,
                               std::uint64_t seed);

// The number of tokens that a loss over these examples counts: those with a weight other than 0.
double weighted_tokens(const Batch& batch);

// The number of examples that have such a token: what a mean over sequences is over.
double weighted_examples(const Batch& batch);

}  // namespace krl::core
