#include "plugins/policies/tinker/sampled_answer.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/policies/tokenizer/utf8.hpp"

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

// The text of an answer while its tokens are added.
class AnswerBytes {
 public:
  explicit AnswerBytes(const std::vector<std::string>& stop) : stop_(stop) {}

  // True if these bytes complete a stop text; the text then ends where that begins.
  bool add(const std::string& bytes) {
    const std::size_t before = bytes_.size();
    bytes_ += bytes;
    std::size_t cut = std::string::npos;
    for (const std::string& text : stop_) {
      const std::size_t from = before >= text.size() ? before - text.size() + 1 : 0;
      cut = std::min(cut, bytes_.find(text, from));
    }
    if (cut == std::string::npos) return false;
    bytes_.resize(cut);
    return true;
  }

  std::string text() const { return policies::to_utf8(bytes_); }

 private:
  const std::vector<std::string>& stop_;
  std::string bytes_;
};

}  // namespace

SampledAnswer checked_answer(const SampledSequence& sequence, const ExpectedAnswer& expected) {
  check(sequence, expected);
  const std::vector<TokenId>& ends = expected.chat->stop_tokens();
  AnswerBytes bytes(expected.stop);
  for (const TokenId token : expected.prefix) bytes.add(expected.chat->tokenizer().bytes(token));
  SampledAnswer answer;
  bool ended = false;
  for (std::size_t i = 0; i < sequence.tokens.size() && !ended; ++i) {
    const TokenId token = sequence.tokens[i];
    answer.tokens.push_back(token);
    answer.logprobs.push_back(sequence.logprobs[i]);
    ended = std::find(ends.begin(), ends.end(), token) != ends.end() ||
            bytes.add(expected.chat->tokenizer().bytes(token));
  }
  answer.text = bytes.text();
  ended = ended || sequence.stop_reason == StopReason::kStop;
  answer.stop_reason = ended ? KRL_STOP_END : KRL_STOP_LENGTH;
  return answer;
}

}  // namespace krl::tinker
