// SGLang: POST /generate with the prompt as ids.
// https://docs.sglang.ai/basic_usage/native_api.html
//
// Its copies of one prompt draw from the same seed, so each answer is an exchange of its own; the
// server shares their prompt by its prefix cache.
#include <algorithm>
#include <kernelrl/values.hpp>
#include <limits>

#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {
namespace sglang {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

Encoded encode(const Ask& ask) {
  Json sampling = {{"n", ask.n},
                   {"max_new_tokens", ask.max_tokens},
                   {"temperature", ask.temperature},
                   {"top_p", ask.top_p},
                   {"top_k", ask.top_k},
                   {"min_p", 0},
                   {"sampling_seed", ask.seed},
                   {"skip_special_tokens", true},
                   {"no_stop_trim", true}};
  if (!ask.stop.empty()) sampling["stop"] = ask.stop;
  if (!ask.stop_tokens.empty()) sampling["stop_token_ids"] = ask.stop_tokens;
  Json body = {{"input_ids", ask.prompt},
               {"sampling_params", std::move(sampling)},
               {"return_logprob", true},
               {"logprob_start_len", -1}};  // none of the prompt's
  if (!ask.adapter.empty()) body["lora_path"] = ask.adapter;
  if (ask.stream) body["stream"] = true;
  return {"/generate", std::move(body)};
}

// [[logprob, id, text or null], …]
void add_tokens(const JsonNode& entries, Choice& choice) {
  for (const JsonNode& entry : entries.elements()) {
    if (entry.size_of_array() < 2) entry.refuse("must be a log-probability and an id");
    choice.logprobs.emplace_back(read_logprob(entry.element(0)));
    choice.tokens.push_back(
        static_cast<TokenId>(entry.element(1).integer(std::numeric_limits<TokenId>::max())));
  }
}

void check_ids(const JsonNode& ids, const Choice& choice) {
  const std::vector<TokenId> tokens = read_ids(ids);
  const bool agree = tokens.size() <= choice.tokens.size() &&
                     std::equal(tokens.rbegin(), tokens.rend(), choice.tokens.rbegin());
  if (!agree) ids.refuse("differs from the ids of output_token_logprobs");
}

void read_one(const JsonNode& node, Choice& choice, Reply& reply) {
  const JsonNode meta = node.get("meta_info");
  const JsonNode entries = meta.get("output_token_logprobs");
  // An event holds everything that came so far, or, depending on how the server was started, only
  // the new part.
  const std::int64_t so_far = meta.get("completion_tokens").integer(kMost);
  if (static_cast<std::int64_t>(entries.size_of_array()) == so_far) choice = Choice{};
  add_tokens(entries, choice);
  if (const auto text = node.find("text")) choice.text += text->text();
  if (const auto ids = node.find("output_ids")) check_ids(*ids, choice);
  if (const auto reason = meta.find("finish_reason")) {
    end_choice(choice, reason->get("type").text());
  }
  reply.prompt_tokens = meta.get("prompt_tokens").integer(kMost);
  if (const auto cached = meta.find("cached_tokens")) reply.cached_tokens = cached->integer(kMost);
  if (const auto version = meta.find("weight_version")) reply.weight_version = version->text();
}

void read(const JsonNode& piece, const Ask& ask, Reply& reply) {
  if (!piece.value().is_array()) {
    const std::uint32_t number = choice_number(piece.find("index"), ask);
    read_one(piece, open_choice(piece, number, ask, reply), reply);
    return;
  }
  if (piece.size_of_array() != ask.n) piece.refuse("must have one element an answer");
  for (std::uint32_t i = 0; i < ask.n; ++i) {
    const JsonNode node = piece.element(i);
    read_one(node, open_choice(node, i, ask, reply), reply);
  }
}

Encoded encode_scoring(const Ask& ask) {
  Json body = {{"input_ids", ask.prompt},
               {"sampling_params", {{"max_new_tokens", 1}, {"temperature", 1}}},
               {"return_logprob", true},
               {"logprob_start_len", 0}};
  if (!ask.adapter.empty()) body["lora_path"] = ask.adapter;
  return {"/generate", std::move(body)};
}

// meta_info.input_token_logprobs: [[null, id], [logprob, id], …], one a token of the prompt.
std::vector<float> read_scoring(const JsonNode& answer, const Ask& ask, std::size_t first) {
  const JsonNode entries = answer.get("meta_info").get("input_token_logprobs");
  expect_one_a_token(entries, ask);
  std::vector<float> logprobs;
  for (std::size_t i = first; i < ask.prompt.size(); ++i) {
    const JsonNode entry = entries.element(i);
    if (entry.size_of_array() < 2) entry.refuse("must be a log-probability and an id");
    const std::int64_t id = entry.element(1).integer(std::numeric_limits<TokenId>::max());
    if (id != ask.prompt[i]) entry.refuse("is of another token");
    logprobs.push_back(read_logprob(entry.element(0)));
  }
  return logprobs;
}

}  // namespace
}  // namespace sglang

const Dialect& sglang_dialect() {
  static const Dialect dialect{
      .name = "sglang",
      .server = "SGLang",
      .gives_tokens = true,
      .logprobs = KRL_LOGPROBS_RAW,
      .streams = true,
      .most_at_once = 1,
      .adopts = KRL_WEIGHTS_PEFT | KRL_WEIGHTS_HF,
      .encode = sglang::encode,
      .read = sglang::read,
      .optional_fields = {"/sampling_params/sampling_seed"},
      .encode_scoring = sglang::encode_scoring,
      .read_scoring = sglang::read_scoring,
  };
  return dialect;
}

}  // namespace krl::openai
