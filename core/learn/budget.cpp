#include "core/learn/budget.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace krl::core {
namespace {

constexpr double kMillion = 1e6, kSecondsAMinute = 60;

// Returns a figure that the policy reported of its calls, which knows of every answer; else the sum
// over the turns.
template <class Count>
double tokens_of(const RolloutResult& rollout, const std::string& figure, const Count& count) {
  const auto reported = rollout.sampling.find(figure);
  if (reported != rollout.sampling.end() && reported->second > 0) return reported->second;
  double sum = 0;
  for (const Episode& episode : rollout.episodes)
    for (const TurnRecord& turn : episode.turns) sum += static_cast<double>(count(turn));
  return sum;
}

bool has_answers(const RolloutResult& rollout) {
  for (const Episode& episode : rollout.episodes)
    for (const TurnRecord& turn : episode.turns)
      if (!episode.tuned && !turn.answer.text.empty()) return true;
  return false;
}

}  // namespace

Status Budget::add(const RolloutResult& rollout, double seconds) {
  const double answers = tokens_of(rollout, "answer_tokens", [](const TurnRecord& turn) {
    return static_cast<std::int64_t>(turn.answer.tokens.size()) + turn.dropped_tokens;
  });
  const double prompts = tokens_of(rollout, "prompt_tokens", [](const TurnRecord& turn) {
    return turn.answer.prompt_tokens.size() * static_cast<std::size_t>(1 + turn.dropped);
  });
  const bool counts = limits_.tokens > 0 || limits_.dollars > 0;
  if (counts && answers == 0 && has_answers(rollout)) {
    return failure(Code::kFailedPrecondition,
                   "the policy does not say how many tokens its answers have: budget.tokens and "
                   "budget.dollars cannot be kept; use budget.kernels or budget.minutes");
  }
  if (limits_.dollars > 0 && limits_.prompt_price > 0 && prompts == 0 && has_answers(rollout)) {
    return failure(
        Code::kFailedPrecondition,
        "the policy does not say how many tokens its prompts have: budget.dollars cannot "
        "be kept with a budget.prompt_price; use another budget");
  }
  answer_tokens_ += answers;
  prompt_tokens_ += prompts;
  seconds_ += seconds;
  return {};
}

bool Budget::used_up() const {
  return (limits_.tokens > 0 && answer_tokens_ >= static_cast<double>(limits_.tokens)) ||
         (limits_.minutes > 0 && seconds_ >= limits_.minutes * kSecondsAMinute) ||
         (limits_.dollars > 0 && dollars() >= limits_.dollars);
}

double Budget::dollars() const {
  return (prompt_tokens_ * limits_.prompt_price + answer_tokens_ * limits_.answer_price) / kMillion;
}

Metrics Budget::metrics() const {
  Metrics metrics = {{"budget/answer_tokens", answer_tokens_},
                     {"budget/prompt_tokens", prompt_tokens_},
                     {"time_s/search", seconds_}};
  if (limits_.prompt_price > 0 || limits_.answer_price > 0) metrics["budget/dollars"] = dollars();
  return metrics;
}

nlohmann::json Budget::state() const {
  return {
      {"prompt_tokens", prompt_tokens_}, {"answer_tokens", answer_tokens_}, {"seconds", seconds_}};
}

void Budget::restore(const nlohmann::json& state) {
  state.at("prompt_tokens").get_to(prompt_tokens_);
  state.at("answer_tokens").get_to(answer_tokens_);
  state.at("seconds").get_to(seconds_);
}

}  // namespace krl::core
