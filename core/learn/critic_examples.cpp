#include "core/learn/critic_examples.hpp"

#include <algorithm>

#include "core/learn/declared_metrics.hpp"
#include "core/learn/gae.hpp"
#include "core/learn/returns.hpp"

namespace krl::core {
namespace {

// A deviation up to this is rounding.
constexpr double kRounding = 1e-8;

// Adds the turns that a stop left out to the reward of the last one.
void repeat_last(std::vector<double>& scores, std::int64_t unplayed, ReturnSettings settings) {
  settings.kind = ReturnKind::kSum;
  if (!scores.empty()) scores.back() = turn_returns({scores.back()}, unplayed, settings).front();
}

std::vector<Step> steps_of(const Example* examples, const std::vector<double>& scores,
                           const LearnSettings& settings) {
  std::vector<Step> steps;
  for (std::size_t turn = 0; turn < scores.size(); ++turn) {
    const Example& example = examples[turn];
    for (std::size_t t = 0; t < example.tokens.size(); ++t) {
      const bool last = t + 1 == example.tokens.size();
      steps.push_back({last ? scores[turn] : 0.0,
                       last ? settings.returns.discount : settings.gae.gamma, example.values[t],
                       example.weights[t] == 0.0F});
    }
  }
  return steps;
}

// Fills in the advantages and returns of one episode's examples, whose values are there.
void judge(Example* examples, const std::vector<double>& scores, const LearnSettings& settings) {
  const std::vector<double> advantages =
      gae_advantages(steps_of(examples, scores, settings), settings.gae.lambda);
  std::size_t step = 0;
  for (std::size_t turn = 0; turn < scores.size(); ++turn) {
    Example& example = examples[turn];
    for (const float value : example.values) {
      const double advantage = advantages[step++];
      example.advantages.push_back(static_cast<float>(advantage));
      example.returns.push_back(static_cast<float>(advantage + value));
    }
  }
}

// Calls `function(example, token)` for every token that is learned from.
template <class Examples, class Function>
void for_each_token(Examples& examples, const Function& function) {
  for (auto& example : examples) {
    for (std::size_t t = 0; t < example.tokens.size(); ++t) {
      if (example.weights[t] != 0.0F) function(example, t);
    }
  }
}

void whiten(std::vector<Example>& examples) {
  std::vector<double> all;
  for_each_token(examples,
                 [&](const Example& e, std::size_t t) { all.push_back(e.advantages[t]); });
  const double mean = mean_of(all), scale = 1 / (deviation_of(all) + kRounding);
  for_each_token(examples, [&](Example& e, std::size_t t) {
    e.advantages[t] = static_cast<float>((e.advantages[t] - mean) * scale);
  });
}

// Such a turn was a part of its episode, and there is nothing in it to learn from.
bool is_masked_out(const Example& example) {
  return std::ranges::all_of(example.weights, [](float w) { return w == 0.0F; });
}

constexpr const char *kValueMean = "critic/value_mean",
                     *kExplainedVariance = "critic/explained_variance";

void write_metrics(const std::vector<Example>& examples, Metrics& metrics) {
  std::vector<double> values, returns, errors;
  for_each_token(examples, [&](const Example& e, std::size_t t) {
    values.push_back(e.values[t]);
    returns.push_back(e.returns[t]);
    errors.push_back(static_cast<double>(e.returns[t]) - e.values[t]);
  });
  if (values.empty()) return;
  metrics[kValueMean] = mean_of(values);
  const double deviation = deviation_of(returns), error = deviation_of(errors);
  if (deviation > kRounding)
    metrics[kExplainedVariance] = 1 - error * error / (deviation * deviation);
}

}  // namespace

Result<TrainingSet> select_examples_by_critic(const std::vector<Episode>& episodes,
                                              const LearnSettings& settings, const Policy& policy,
                                              Metrics& metrics) {
  TrainingSet set;
  std::vector<std::vector<double>> scores;  // indexed by episode
  for (const Episode& episode : episodes) {
    ScoredTurns scored = scored_turns(episode, settings);
    set.count(scored);
    for (const TurnRecord* turn : scored.turns)
      set.examples.push_back(example_of(*turn, settings.truncated));
    repeat_last(scored.scores, episode.unplayed, settings.returns);
    scores.push_back(std::move(scored.scores));
  }
  if (set.examples.empty()) return set;
  KRL_ASSIGN(std::vector<std::vector<float>> values, policy.values(set.examples));
  for (std::size_t i = 0; i < values.size(); ++i) set.examples[i].values = std::move(values[i]);
  Example* next = set.examples.data();
  for (const std::vector<double>& of_episode : scores) {
    judge(next, of_episode, settings);
    next += of_episode.size();
  }
  std::erase_if(set.examples, is_masked_out);
  write_metrics(set.examples, metrics);
  if (settings.gae.whiten) whiten(set.examples);
  return set;
}

void declare_critic_metrics(MetricNames& names) {
  for (const char* name : {kValueMean, kExplainedVariance}) names.of_iterations.emplace_back(name);
}

}  // namespace krl::core
