#include "plugins/policies/tinker/sampled_answer.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/policies/tokenizer/answer_text.hpp"

namespace krl::tinker {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Failure(KRL_UNAVAILABLE, "the service sampled " + what);
}

void check(const SampledSequence& sequence, const ExpectedAnswer& expected) {
  const std::size_t n = sequence.tokens.size();
  if (n == 0) refuse("an answer without a token");
  if (static_cast<std::int64_t>(n) > expected.max_tokens) {
    refuse(std::to_string(n) + " tokens, more than the " + std::to_string(expected.max_tokens) +
           " asked for");
  }
  if (sequence.logprobs.size() != n) {
    refuse(std::to_string(n) + " tokens with " + std::to_string(sequence.logprobs.size()) +
           " log-probabilities");
  }
  for (std::size_t i = 0; i < n; ++i) {
    const float logprob = sequence.logprobs[i];
    if (!std::isfinite(logprob) || logprob > kLargestLogprob)
      refuse("token " + std::to_string(i) + " with log-probability " + std::to_string(logprob));
    if (sequence.tokens[i] >= expected.vocabulary) {
      refuse("token " + std::to_string(sequence.tokens[i]) + ", outside the vocabulary of " +
             std::to_string(expected.vocabulary));
    }
  }
}

}  // namespace

SampledAnswer checked_answer(const SampledSequence& sequence, const ExpectedAnswer& expected) {
  check(sequence, expected);
  const std::vector<TokenId>& ends = expected.chat->stop_tokens();
  policies::AnswerText text;
  text.add(expected.chat->tokenizer().decode(expected.prefix), {});
  SampledAnswer answer;
  bool ended = false;
  for (std::size_t i = 0; i < sequence.tokens.size() && !ended; ++i) {
    const TokenId token = sequence.tokens[i];
    answer.tokens.push_back(token);
    answer.logprobs.push_back(sequence.logprobs[i]);
    ended = std::find(ends.begin(), ends.end(), token) != ends.end() ||
            text.add(expected.chat->tokenizer().bytes(token), expected.stop);
  }
  answer.text = text.text();
  ended = ended || sequence.stop_reason == StopReason::kStop;
  answer.stop_reason = ended ? KRL_STOP_END : KRL_STOP_LENGTH;
  return answer;
}

}  // namespace krl::tinker
