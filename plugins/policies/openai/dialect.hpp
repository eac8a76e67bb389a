// The protocol of one kind of server. Each dialect is one file of pure functions in dialects/,
// tested with answers of real servers.
#pragma once

#include <kernelrl/abi.h>

#include <string_view>
#include <vector>

#include "plugins/policies/openai/exchange.hpp"
#include "plugins/policies/tokenizer/json_node.hpp"

namespace krl::openai {

using policies::JsonNode;
using policies::read_ids;

struct Dialect {
  std::string_view name;    // name in a plan: "vllm"
  std::string_view server;  // name for readers: "vLLM"
  bool gives_tokens;        // takes a prompt's ids, and returns those of its answers
  // KRL_LOGPROBS_* of a server that was started without options that change them.
  std::uint32_t logprobs;
  bool streams;                // streams hold all that whole answers hold
  std::uint32_t most_at_once;  // answers per exchange, if the server sets no limit
  std::uint32_t adopts;        // KRL_WEIGHTS_*

  Encoded (*encode)(const Ask&);
  // Adds the contents of `piece`, a whole answer or an event of a stream, to the reply so far.
  // Throws krl::Failure(KRL_INVALID_ARGUMENT) with the place of an error in it.
  void (*read)(const JsonNode& piece, const Ask&, Reply&);

  // Fields of the body that a server may refuse by name, as JSON pointers: sampling works without.
  std::vector<const char*> optional_fields = {};

  // Asks for log-probabilities of given tokens, those of the prompt from `first` on. Null: not
  // possible.
  Encoded (*encode_scoring)(const Ask&) = nullptr;
  std::vector<float> (*read_scoring)(const JsonNode& answer, const Ask&,
                                     std::size_t first) = nullptr;

  // Set if the server's answers lack log-probabilities (missing_logprobs.hpp), else null: asks for
  // the `among` likeliest tokens after ask.prompt, by forcing `forced`, and reads that of `token`,
  // if it is one of them.
  Encoded (*encode_token)(const Ask&, TokenId forced, std::int64_t among) = nullptr;
  std::optional<float> (*read_token)(const JsonNode& answer, TokenId token) = nullptr;
};

const Dialect& vllm_dialect();
const Dialect& sglang_dialect();
const Dialect& llamacpp_dialect();
const Dialect& plain_dialect();

// "vllm", "sglang", "llamacpp" or "plain"; null for any other name.
const Dialect* dialect_by_name(std::string_view name);

// Asks for a stream, whose last event has the usage, if one is wanted.
void ask_for_stream(const Ask&, Json& body);
// Refuses entries unless there is one for each token of the prompt.
void expect_one_a_token(const JsonNode& entries, const Ask&);

// Reads an index, or 0 if there is none; it must be below ask.n.
std::uint32_t choice_number(const std::optional<JsonNode>& index, const Ask&);
// Returns the choice of that number; one that has ended must not continue.
Choice& open_choice(const JsonNode& node, std::uint32_t number, const Ask&, Reply&);

// The numbers of tokens in `usage`, if they are there.
void read_usage(const JsonNode& piece, Reply&);

float read_logprob(const JsonNode& number);

}  // namespace krl::openai
