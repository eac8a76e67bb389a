#include "core/episode/score.hpp"

#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <kernelrl/values.hpp>

#include "core/base/log.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

// The turns of an episode as rewards read them, each linked to the one before.
class TurnViews {
 public:
  explicit TurnViews(const Episode& episode) : task_(view_of(*episode.task)) {
    for (const TurnRecord& turn : episode.given) add(turn);
    for (const TurnRecord& turn : episode.turns) add(turn);
  }
  const krl_turn* last() const { return &turns_.back(); }

 private:
  void add(const TurnRecord& turn) {
    const EvaluationView& evaluation = evaluations_.emplace_back(turn.evaluation);
    const krl_turn* previous = turns_.empty() ? nullptr : &turns_.back();
    turns_.push_back({sizeof(krl_turn),
                      static_cast<std::uint32_t>(turns_.size()),
                      &task_,
                      turn.prompt.empty() ? krl_str{} : to_c(turn.prompt.back().text),
                      to_c(turn.answer.text),
                      to_c(turn.candidate.thinking),
                      to_c(turn.candidate.source),
                      static_cast<std::uint32_t>(turn.candidate.format),
                      turn.answer.stop_reason,
                      {turn.answer.tokens.data(), turn.answer.tokens.size()},
                      {turn.answer.logprobs.data(), turn.answer.logprobs.size()},
                      evaluation.c(),
                      previous});
  }

  krl_task task_;
  std::deque<EvaluationView> evaluations_;
  std::deque<krl_turn> turns_;
};

bool lets_through(RewardWhen when, const Evaluation& evaluation) {
  switch (when) {
    case RewardWhen::kAlways:
      return true;
    case RewardWhen::kCompiled:
      return evaluation.compiled();
    case RewardWhen::kPassed:
      return evaluation.passed();
  }
  return false;
}

Score lost_score(const Episode& episode, const RewardTerm& term, const Error& why) {
  log(Severity::kError, fmt::format("task '{}', turn {}: not scored, the turn is dropped: {}",
                                    episode.task->id, episode.turns.size(), why.message));
  return {0, {}, with_plugin(why.message, term.reward.component())};
}

Error too_large(double total, const RewardTerm& term, double value) {
  return {
      Code::kInvalidArgument,
      fmt::format(
          "reward term '{}': {:g} times its weight {:g} makes the score of a turn {:g}, but the maximum is {:g}; choose a smaller weight",
          term.name, value, term.weight, total, kMostScore)};
}

}  // namespace

Result<Score> Scorer::score(const Episode& episode) const {
  const TurnViews views(episode);
  Score score;
  for (const RewardTerm& term : terms_) {
    double value = 0;
    if (lets_through(term.when, episode.turns.back().evaluation)) {
      const auto values = term.reward.score({views.last()});
      if (!values && values.error().code == Code::kUnavailable)
        return lost_score(episode, term, values.error());
      if (!values) return failure(values.error());
      value = values->front();
    }
    score.terms.push_back(value);
    score.total += term.weight * value;
    if (std::abs(score.total) > kMostScore) return failure(too_large(score.total, term, value));
  }
  return score;
}

}  // namespace krl::core
