#include "core/learn/training_set.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/seeds.hpp>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/learn/objectives.hpp"
#include "core/learn/returns.hpp"

namespace krl::core {
namespace {

struct Member {
  const TurnRecord* turn;
  Return result;
};

// Members are compared within a task, or within a task and a turn.
using GroupKey = std::pair<GroupId, std::size_t>;

double weighted_tokens(const Example& e) {
  if (e.weights.empty()) return static_cast<double>(e.tokens.size());
  return static_cast<double>(e.weights.size()) -
         static_cast<double>(std::ranges::count(e.weights, 0.0F));
}

bool is_cut(const TurnRecord& turn) { return turn.answer.stop_reason == KRL_STOP_LENGTH; }

// An answer that was cut off is never worth more than the same kernel at the end of a whole one.
double score_of(const TurnRecord& turn, Truncated truncated) {
  const double score = turn.score.total;
  return is_cut(turn) && truncated == Truncated::kZero ? std::min(0.0, score) : score;
}

// Counts turns in `set` on the way.
std::map<GroupKey, std::vector<Member>> group_members(const std::vector<Episode>& episodes,
                                                      const LearnSettings& settings,
                                                      TrainingSet& set) {
  std::map<GroupKey, std::vector<Member>> groups;
  for (std::size_t e = 0; e < episodes.size(); ++e) {
    const ScoredTurns scored = scored_turns(episodes[e], settings);
    set.count(scored);
    const std::vector<double> returns =
        turn_returns(scored.scores, episodes[e].unplayed, settings.returns);
    for (std::size_t t = 0; t < returns.size(); ++t) {
      if (is_masked(*scored.turns[t], settings.truncated)) continue;
      const std::size_t part = settings.group_by == GroupBy::kTurn ? scored.first + t : 0;
      groups[{episodes[e].group, part}].push_back({scored.turns[t], {returns[t], e}});
    }
  }
  return groups;
}

enum class GroupKind { kDiffers, kSame, kNoise, kTooSmall };

GroupKind kind_of(const std::vector<Return>& returns, const LearnSettings& settings) {
  const bool one_episode = std::ranges::all_of(
      returns, [&](const Return& r) { return r.episode == returns.front().episode; });
  if (one_episode) return GroupKind::kTooSmall;
  const double spread = spread_of(returns);
  if (spread <= kSameReturn) return GroupKind::kSame;
  return spread < settings.min_spread ? GroupKind::kNoise : GroupKind::kDiffers;
}

std::vector<Return> returns_of(const std::vector<Member>& members) {
  std::vector<Return> returns;
  for (const Member& m : members) returns.push_back(m.result);
  return returns;
}

// The likelihoods of the answers under the policy that sampled them.
std::vector<Likelihood> likelihoods_of(const std::vector<Member>& members) {
  std::vector<Likelihood> answers;
  for (const Member& m : members) {
    const std::vector<float>& logprobs = m.turn->answer.logprobs;
    answers.push_back(
        {std::accumulate(logprobs.begin(), logprobs.end(), 0.0), m.turn->evaluation.passed()});
  }
  return answers;
}

void count_causes(const std::vector<Member>& members, const std::vector<double>& advantages,
                  TrainingSet& set) {
  double sum = 0, right = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].turn->evaluation.passed()) sum += advantages[i], ++right;
  }
  const double mean = right > 0 ? sum / right : 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool passed = members[i].turn->evaluation.passed();
    set.by_correctness += std::abs(passed ? mean : advantages[i]);
    set.by_speed += passed ? std::abs(advantages[i] - mean) : 0;
  }
}

// The advantages of a group's members; nothing where they are left out.
std::optional<std::vector<double>> advantages_of(const std::vector<Member>& members,
                                                 const LearnSettings& settings, TrainingSet& set) {
  ++set.groups;
  std::vector<Return> returns = returns_of(members);
  const GroupKind kind = kind_of(returns, settings);
  set.zero_variance += kind == GroupKind::kSame ? 1 : 0;
  set.below_noise += kind == GroupKind::kNoise ? 1 : 0;
  set.too_small += kind == GroupKind::kTooSmall ? 1 : 0;
  if (kind == GroupKind::kDiffers) {
    if (settings.unlikeliness > 0)
      weigh_unlikely(returns, likelihoods_of(members), settings.unlikeliness);
    return group_advantages(returns, settings.advantage, settings.objective);
  }
  if (kind == GroupKind::kTooSmall || settings.drop_zero_variance) return std::nullopt;
  return std::vector<double>(returns.size(), 0.0);
}

}  // namespace

std::vector<std::size_t> permutation(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[mixed(seed += kSeedStep) % i]);
  return order;
}

void TrainingSet::count(const ScoredTurns& scored) {
  turns += static_cast<int>(scored.turns.size());
  lost_future += scored.lost_future;
  truncated += static_cast<int>(
      std::ranges::count_if(scored.turns, [](const TurnRecord* t) { return is_cut(*t); }));
}

ScoredTurns scored_turns(const Episode& episode, const LearnSettings& settings) {
  ScoredTurns scored;
  for (std::size_t t = 0; t < episode.turns.size(); ++t) {
    const TurnRecord& turn = episode.turns[t];
    if (!turn.infra_error()) {
      scored.turns.push_back(&turn);
      scored.scores.push_back(score_of(turn, settings.truncated));
    } else if (settings.returns.discount > 0) {
      scored.lost_future += static_cast<int>(scored.turns.size());
      scored.turns.clear();
      scored.scores.clear();
      scored.first = t + 1;
    }
  }
  return scored;
}

bool is_masked(const TurnRecord& turn, Truncated truncated) {
  return is_cut(turn) && truncated == Truncated::kMask;
}

Example example_of(const TurnRecord& turn, Truncated truncated) {
  const Answer& a = turn.answer;
  Example example{a.prompt_tokens, a.tokens, a.logprobs};
  example.weights.assign(a.tokens.size(), is_masked(turn, truncated) ? 0.0F : 1.0F);
  std::fill(example.weights.begin() + a.given_begin, example.weights.begin() + a.given_end, 0.0F);
  example.version = a.policy_version;
  example.state = a.state;
  return example;
}

TrainingSet select_examples(const std::vector<Episode>& episodes, const LearnSettings& settings) {
  TrainingSet set;
  for (const auto& [key, members] : group_members(episodes, settings, set)) {
    const auto advantages = advantages_of(members, settings, set);
    if (!advantages) continue;
    count_causes(members, *advantages, set);
    for (std::size_t i = 0; i < members.size(); ++i) {
      Example& example =
          set.examples.emplace_back(example_of(*members[i].turn, settings.truncated));
      example.advantages.assign(example.tokens.size(), static_cast<float>((*advantages)[i]));
    }
  }
  return set;
}

std::set<GroupId> groups_that_differ(const std::vector<Episode>& episodes,
                                     const LearnSettings& settings) {
  std::set<GroupId> groups;
  TrainingSet ignored;
  for (const auto& [key, members] : group_members(episodes, settings, ignored)) {
    if (kind_of(returns_of(members), settings) == GroupKind::kDiffers) groups.insert(key.first);
  }
  return groups;
}

std::int64_t steps_of_epoch(std::size_t examples, double turns, std::int64_t minibatches) {
  const double share = static_cast<double>(examples) / std::max(turns, 1.0);
  return std::clamp<std::int64_t>(std::llround(share * static_cast<double>(minibatches)), 1,
                                  minibatches);
}

std::vector<Batch> minibatches(const std::vector<Example>& examples, std::int64_t count,
                               std::uint64_t seed) {
  const std::vector<std::size_t> order = permutation(examples.size(), seed);
  std::vector<Batch> parts(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < order.size(); ++i)
    parts[i % parts.size()].push_back(&examples[order[i]]);
  std::erase_if(parts, [](const Batch& part) { return part.empty(); });
  return parts;
}

double weighted_tokens(const Batch& batch) {
  double count = 0;
  for (const Example* example : batch) count += weighted_tokens(*example);
  return count;
}

double weighted_examples(const Batch& batch) {
  return static_cast<double>(std::ranges::count_if(
      batch, [](const Example* example) { return weighted_tokens(*example) > 0; }));
}

}  // namespace krl::core
