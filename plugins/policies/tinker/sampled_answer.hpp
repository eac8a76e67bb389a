// Validates a service's sample and turns it into an answer that may be learned from; nothing is
// taken on trust. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugins/policies/tinker/messages.hpp"
#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

namespace krl::tinker {

// The expectations for an answer.
struct ExpectedAnswer {
  const policies::ChatTokenizer* chat = nullptr;
  std::int64_t vocabulary = 0;    // ids are below
  std::vector<TokenId> prefix;    // the answer so far: its text goes before
  std::vector<std::string> stop;  // texts that end an answer
  std::int64_t max_tokens = 0;
};

struct SampledAnswer {
  std::string text;  // text of the whole answer, without an end token, and up to a stop text
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;
  std::uint32_t stop_reason = 0;  // KRL_STOP_*
};

// Checks an answer. The sample ends with the first end token, or the token that completes a stop
// text, even if the service has sampled more: it is then as likely as one from a sampler that stops
// there. Throws krl::Failure (KRL_UNAVAILABLE), which explains the error: no token, or more than
// were asked for; not as many log-probabilities; one that is not finite, or greater than 0; an id
// outside the vocabulary.
SampledAnswer checked_answer(const SampledSequence& sequence, const ExpectedAnswer& expected);

}  // namespace krl::tinker
