// llama.cpp's own server: POST /completion with the prompt as ids.
// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
//
// Its log-probabilities lack the tokens that end inside a character, and those of a stop text; its
// streams lack these tokens altogether. So whole answers are asked for, without stop texts, which
// are found in the answer here; missing log-probabilities are then asked for separately
// (missing_logprobs.hpp).
#include <kernelrl/values.hpp>
#include <limits>

#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {
namespace llamacpp {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

Encoded encode(const Ask& ask) {
  return {"/completion",
          {{"prompt", ask.prompt},
           {"n", ask.n},
           {"n_predict", ask.max_tokens},
           {"temperature", ask.temperature},
           {"top_k", ask.top_k < 0 ? 0 : ask.top_k},  // 0 = off
           {"top_p", ask.top_p},
           {"min_p", 0},
           {"repeat_penalty", 1},
           // Top-k and top-p choose among the tokens that the temperature leaves; by default they
           // come first.
           {"samplers", {"temperature", "top_k", "top_p"}},
           {"n_probs", 1},
           {"return_tokens", true},
           {"cache_prompt", true},
           {"seed", ask.seed}}};
}

// completion_probabilities is a subsequence of tokens: omitted tokens have no log-probability.
void read_logprobs(const JsonNode& node, Choice& choice) {
  choice.logprobs.assign(choice.tokens.size(), std::nullopt);
  const auto entries = node.find("completion_probabilities");
  if (!entries) return;
  std::size_t at = 0;
  for (const JsonNode& entry : entries->elements()) {
    const std::int64_t id = entry.get("id").integer(std::numeric_limits<TokenId>::max());
    while (at < choice.tokens.size() && choice.tokens[at] != id) ++at;
    if (at == choice.tokens.size()) entry.refuse("is of a token that is not in the answer");
    choice.logprobs[at++] = read_logprob(entry.get("logprob"));
  }
}

void read_one(const JsonNode& node, const Ask& ask, Reply& reply) {
  Choice& choice = open_choice(node, choice_number(node.find("index"), ask), ask, reply);
  choice.text = node.get("content").text();
  choice.tokens = read_ids(node.get("tokens"));
  read_logprobs(node, choice);
  end_choice(choice, node.get("stop_type").text());
  const std::int64_t evaluated = node.get("tokens_evaluated").integer(kMost);
  if (evaluated != static_cast<std::int64_t>(ask.prompt.size())) {
    node.refuse("the server has read " + std::to_string(evaluated) + " tokens of a prompt of " +
                std::to_string(ask.prompt.size()));
  }
  reply.prompt_tokens = evaluated;
  const auto timings = node.find("timings");
  const auto cached = timings ? timings->find("cache_n") : std::nullopt;
  if (cached) reply.cached_tokens = cached->integer(kMost);
}

void read(const JsonNode& piece, const Ask& ask, Reply& reply) {
  if (!piece.value().is_array()) {
    read_one(piece, ask, reply);
    return;
  }
  for (const JsonNode& answer : piece.elements()) read_one(answer, ask, reply);
}

// The bias changes the sampled token, and no log-probability.
Encoded encode_token(const Ask& ask, TokenId forced, std::int64_t among) {
  Ask one = ask;
  one.n = 1;
  one.max_tokens = 1;
  Encoded encoded = encode(one);
  encoded.body["n_probs"] = among;
  encoded.body["logit_bias"] = {{forced, 1000}};
  return encoded;
}

std::optional<float> read_token(const JsonNode& answer, TokenId token) {
  const JsonNode entries = answer.get("completion_probabilities");
  if (entries.size_of_array() != 1) entries.refuse("must have one element");
  const JsonNode likeliest = entries.element(0).get("top_logprobs");
  for (const JsonNode& entry : likeliest.elements()) {
    if (entry.get("id").integer(std::numeric_limits<TokenId>::max()) == token)
      return read_logprob(entry.get("logprob"));
  }
  return std::nullopt;
}

}  // namespace
}  // namespace llamacpp

const Dialect& llamacpp_dialect() {
  static const Dialect dialect{
      .name = "llamacpp",
      .server = "llama.cpp",
      .gives_tokens = true,
      .logprobs = KRL_LOGPROBS_RAW,
      .streams = false,
      .most_at_once = 1,
      .adopts = 0,
      .encode = llamacpp::encode,
      .read = llamacpp::read,
      .encode_token = llamacpp::encode_token,
      .read_token = llamacpp::read_token,
  };
  return dialect;
}

}  // namespace krl::openai
