// Validates a server's answer and turns it into a sample that may be learned from; nothing is taken
// on trust. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugins/policies/openai/exchange.hpp"
#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

namespace krl::openai {

using policies::ChatTokenizer;

struct Sample {
  std::string text;  // text without end tokens, up to a stop text
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;
  std::uint32_t stop_reason = 0;
};

// The expectations for an answer.
struct Expected {
  const ChatTokenizer* chat = nullptr;  // null: the server returns text alone
  // With chat: the prompt, whose tokens from own_prompt on are the answer's beginning.
  std::vector<TokenId> prompt;
  std::size_t own_prompt = 0;
  std::vector<std::string> stop;
  std::uint32_t max_tokens = 0;
};

// Returns how many of the tokens belong to the answer: those up to an end token, or up to the one
// that completes a stop text. REQUIRES: expected.chat.
std::size_t tokens_of_answer(const Choice& choice, const Expected& expected);

// Converts `choice` to a sample. If the server continued after a stop text or an end token, as some
// do, the sample ends there. Throws krl::Failure(KRL_UNAVAILABLE), which explains the error: ids
// outside the vocabulary; different numbers of ids and log-probabilities; log-probabilities that
// are not finite or above 0; more tokens than were asked for; a text that is not that of the ids.
Sample checked_sample(const Choice& choice, const Expected& expected);

// Throws krl::Failure(KRL_UNAVAILABLE) if the server has read a different prompt.
void check_prompt(const Reply& reply, const Expected& expected);

}  // namespace krl::openai
