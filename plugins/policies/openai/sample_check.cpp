#include "plugins/policies/openai/sample_check.hpp"

#include <algorithm>
#include <cmath>
#include <kernelrl/values.hpp>
#include <span>

#include "plugins/policies/tokenizer/answer_text.hpp"

namespace krl::openai {
namespace {

constexpr float kAboveZero = 1e-4F;  // rounding may put a probability of 1 this far above

[[noreturn]] void refuse(const std::string& why) {
  throw Failure(KRL_UNAVAILABLE, "the server's answer is wrong: " + why);
}

// The number of tokens that belong to the answer, and its text.
struct Extent {
  std::size_t tokens;
  std::string text;
  bool ended;
};

// Walks over the tokens up to the first end token or the first that completes a stop text.
Extent extent_of(const Choice& choice, const Expected& expected) {
  const policies::Tokenizer& tokenizer = expected.chat->tokenizer();
  const std::vector<TokenId>& ends = expected.chat->stop_tokens();
  policies::AnswerText text;
  text.add(tokenizer.decode(std::span(expected.prompt).subspan(expected.own_prompt)), {});
  for (std::size_t i = 0; i < choice.tokens.size(); ++i) {
    const TokenId token = choice.tokens[i];
    if (std::binary_search(ends.begin(), ends.end(), token) ||
        text.add(tokenizer.bytes(token), expected.stop))
      return {i + 1, text.text(), true};
  }
  return {choice.tokens.size(), text.text(), false};
}

void check_ids(const Choice& choice, const Expected& expected) {
  const std::int64_t vocabulary = expected.chat->tokenizer().vocabulary();
  if (choice.tokens.empty()) refuse("it has no tokens");
  if (choice.tokens.size() > expected.max_tokens) {
    refuse(std::to_string(choice.tokens.size()) + " tokens; at most " +
           std::to_string(expected.max_tokens) + " were requested");
  }
  if (choice.logprobs.size() != choice.tokens.size()) {
    refuse(std::to_string(choice.tokens.size()) + " tokens with " +
           std::to_string(choice.logprobs.size()) + " log-probabilities");
  }
  for (const TokenId token : choice.tokens) {
    if (token < 0 || token >= vocabulary) {
      refuse("token " + std::to_string(token) + " is outside the tokenizer's vocabulary of " +
             std::to_string(vocabulary) + "; is this the tokenizer of the server's model?");
    }
  }
}

std::vector<float> checked_logprobs(std::span<const std::optional<float>> given) {
  std::vector<float> logprobs;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) {
      refuse("no log-probability of token " + std::to_string(i));
    }
    if (!std::isfinite(*given[i]) || *given[i] > kAboveZero) {
      refuse("log-probability " + std::to_string(*given[i]) + " of token " + std::to_string(i));
    }
    logprobs.push_back(std::min(*given[i], 0.0F));
  }
  return logprobs;
}

// Removes U+FFFD: if tokens are not valid UTF-8, or end inside a character, servers differ in how
// often they write it, if at all.
std::string without_replacements(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string rest(text);
  for (std::size_t at = rest.find(kReplacement); at != std::string::npos;
       at = rest.find(kReplacement, at)) {
    rest.erase(at, kReplacement.size());
  }
  return rest;
}

// The server's text is that of all its ids, perhaps cut before or after the first stop text.
void check_text(const Choice& choice, const Expected& expected) {
  const std::string bytes = expected.chat->tokenizer().decode(choice.tokens);
  const std::string all = without_replacements(policies::to_utf8(bytes));
  const std::string given = without_replacements(choice.text);
  if (given == all) return;
  for (const std::string& stop : expected.stop) {
    const std::size_t at = all.find(without_replacements(stop));
    if (at == std::string::npos) continue;
    if (given == all.substr(0, at) || given == all.substr(0, at + stop.size())) return;
  }
  refuse("its text does not match its tokens; is this the tokenizer of the server's model?");
}

Sample text_sample(const Choice& choice, const Expected& expected) {
  Sample sample;
  sample.stop_reason = choice.stop_reason.value_or(KRL_STOP_ABORTED);
  std::string text = choice.text;
  std::size_t cut = std::string::npos;
  for (const std::string& stop : expected.stop) cut = std::min(cut, text.find(stop));
  if (cut != std::string::npos) text.resize(cut);
  if (!choice.thoughts.empty()) sample.text = "<think>" + choice.thoughts + "</think>";
  sample.text += text;
  return sample;
}

}  // namespace

std::size_t tokens_of_answer(const Choice& choice, const Expected& expected) {
  return extent_of(choice, expected).tokens;
}

Sample checked_sample(const Choice& choice, const Expected& expected) {
  if (expected.chat == nullptr) return text_sample(choice, expected);
  check_ids(choice, expected);
  check_text(choice, expected);
  Extent extent = extent_of(choice, expected);
  Sample sample;
  sample.text = std::move(extent.text);
  sample.tokens.assign(choice.tokens.begin(),
                       choice.tokens.begin() + static_cast<std::ptrdiff_t>(extent.tokens));
  sample.logprobs = checked_logprobs(std::span(choice.logprobs).first(extent.tokens));
  sample.stop_reason = extent.ended ? KRL_STOP_END : choice.stop_reason.value_or(KRL_STOP_ABORTED);
  return sample;
}

void check_prompt(const Reply& reply, const Expected& expected) {
  if (expected.chat == nullptr) return;
  if (reply.prompt && *reply.prompt != expected.prompt) {
    refuse("it answers a different prompt (prompt_token_ids)");
  }
}

}  // namespace krl::openai
