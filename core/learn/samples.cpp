#include "core/learn/samples.hpp"

#include <map>
#include <utility>

#include "core/learn/returns.hpp"
#include "core/learn/shuffle.hpp"

namespace krl {
namespace {

struct Member {
  const TurnRecord* turn;
  double value;  // its return
};

// Members are compared within a task, or within a task and a turn.
using GroupKey = std::pair<std::size_t, std::size_t>;

std::map<GroupKey, std::vector<Member>> group_members(const std::vector<Episode>& episodes,
                                                      const LearnSettings& settings) {
  std::map<GroupKey, std::vector<Member>> groups;
  for (const Episode& episode : episodes) {
    std::vector<const TurnRecord*> turns;
    std::vector<double> scores;
    for (const TurnRecord& turn : episode.turns) {
      if (turn.infra_error()) continue;
      turns.push_back(&turn);
      scores.push_back(score_of(turn, settings.truncated));
    }
    const std::vector<double> returns = turn_returns(scores, settings.returns);
    for (std::size_t t = 0; t < turns.size(); ++t) {
      const std::size_t part = settings.group_by == GroupBy::kTurn ? t : 0;
      groups[{episode.group, part}].push_back({turns[t], returns[t]});
    }
  }
  return groups;
}

}  // namespace

Example example_of(const TurnRecord& turn, Truncated truncated) {
  const Answer& a = turn.answer;
  Example example{a.prompt_tokens, a.tokens, a.logprobs};
  const bool masked = truncated == Truncated::kMask && a.stop_reason == StopReason::kLength;
  example.weights.assign(a.tokens.size(), masked ? 0.0F : 1.0F);
  example.version = a.version;
  example.state = a.state;
  return example;
}

double score_of(const TurnRecord& turn, Truncated truncated) {
  const bool zero = truncated == Truncated::kZero && turn.answer.stop_reason == StopReason::kLength;
  return zero ? 0.0 : turn.score.total;
}

SampleSet select_samples(const std::vector<Episode>& episodes, const LearnSettings& settings) {
  SampleSet set;
  for (const auto& [key, members] : group_members(episodes, settings)) {
    ++set.groups;
    for (const Member& m : members)
      set.truncated += m.turn->answer.stop_reason == StopReason::kLength ? 1 : 0;
    if (members.size() < 2) {
      ++set.too_small;
      continue;
    }
    std::vector<double> returns;
    for (const Member& m : members) returns.push_back(m.value);
    if (zero_variance(returns)) {
      ++set.zero_variance;
      if (settings.drop_zero_variance) continue;
    }
    const std::vector<double> advantages = group_advantages(returns, settings.advantage);
    for (std::size_t i = 0; i < members.size(); ++i) {
      Example& example =
          set.examples.emplace_back(example_of(*members[i].turn, settings.truncated));
      example.advantages.assign(example.tokens.size(), static_cast<float>(advantages[i]));
    }
  }
  return set;
}

std::vector<std::vector<Example>> minibatches(std::vector<Example> examples, std::int64_t count,
                                              std::uint64_t seed) {
  const std::vector<std::size_t> order = permutation(examples.size(), seed);
  std::vector<std::vector<Example>> parts(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < order.size(); ++i)
    parts[i % parts.size()].push_back(std::move(examples[order[i]]));
  std::erase_if(parts, [](const std::vector<Example>& part) { return part.empty(); });
  return parts;
}

double weighted_tokens(const std::vector<Example>& examples) {
  double count = 0;
  for (const Example& e : examples) {
    if (e.weights.empty()) {
      count += static_cast<double>(e.tokens.size());
    } else {
      for (const float w : e.weights) count += w != 0.0F ? 1 : 0;
    }
  }
  return count;
}

}  // namespace krl
