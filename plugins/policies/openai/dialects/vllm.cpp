// vLLM: POST /v1/completions with the prompt as ids.
// https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
#include <kernelrl/values.hpp>
#include <limits>

#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {
namespace vllm {
namespace {

Encoded encode(const Ask& ask) {
  Json body = {{"model", ask.model},
               {"prompt", ask.prompt},
               {"n", ask.n},
               {"max_tokens", ask.max_tokens},  // its default is 16
               {"temperature", ask.temperature},
               {"top_p", ask.top_p},
               {"top_k", ask.top_k},
               {"min_p", 0},
               {"repetition_penalty", 1},  // a model's generation_config.json may differ
               {"seed", ask.seed},
               {"logprobs", 0},  // for the tokens themselves, no alternatives
               {"return_token_ids", true},
               {"return_tokens_as_token_ids", true},  // for versions before return_token_ids
               {"skip_special_tokens", true},
               {"include_stop_str_in_output", true}};
  if (!ask.stop.empty()) body["stop"] = ask.stop;
  if (!ask.stop_tokens.empty()) body["stop_token_ids"] = ask.stop_tokens;
  ask_for_stream(ask, body);
  return {"/v1/completions", std::move(body)};
}

// "token_id:123", as older versions name a token.
TokenId id_in_name(const JsonNode& token) {
  constexpr std::string_view kPrefix = "token_id:";
  const std::string& name = token.text();
  const Json number = name.rfind(kPrefix, 0) == 0
                          ? Json::parse(name.substr(kPrefix.size()), nullptr, false)
                          : Json();
  constexpr std::uint64_t kMost = std::numeric_limits<TokenId>::max();
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMost) {
    token.refuse("is not a token id; the server is too old");
  }
  return number.get<TokenId>();
}

void read_choice(const JsonNode& node, Choice& choice) {
  if (const auto text = node.find("text")) choice.text += text->text();
  const auto logprobs = node.find("logprobs");
  if (const auto ids = node.find("token_ids")) {
    const std::vector<TokenId> tokens = read_ids(*ids);
    choice.tokens.insert(choice.tokens.end(), tokens.begin(), tokens.end());
  } else if (logprobs) {
    for (const JsonNode& name : logprobs->get("tokens").elements())
      choice.tokens.push_back(id_in_name(name));
  }
  if (logprobs) {
    for (const JsonNode& number : logprobs->get("token_logprobs").elements())
      choice.logprobs.emplace_back(read_logprob(number));
  }
  if (const auto reason = node.find("finish_reason")) end_choice(choice, reason->text());
}

void read(const JsonNode& piece, const Ask& ask, Reply& reply) {
  if (const auto model = piece.find("model")) reply.model = model->text();
  const JsonNode choices = piece.get("choices");
  for (const JsonNode& node : choices.elements()) {
    read_choice(node, open_choice(node, choice_number(node.get("index"), ask), ask, reply));
    const auto prompt = node.find("prompt_token_ids");
    const bool is_ours_so_far = !reply.prompt || *reply.prompt == ask.prompt;
    if (prompt && is_ours_so_far) reply.prompt = read_ids(*prompt);  // a wrong one stays
  }
  read_usage(piece, reply);
}

Encoded encode_scoring(const Ask& ask) {
  return {"/v1/completions",
          {{"model", ask.model},
           {"prompt", ask.prompt},
           {"max_tokens", 1},
           {"temperature", 1},
           {"prompt_logprobs", 0},  // for the prompt's own tokens, no alternatives
           {"return_token_ids", true}}};
}

// choices[0].prompt_logprobs has one entry a token: null for the first, then {"ID": {"logprob"}},
// where other tokens may be alongside it.
std::vector<float> read_scoring(const JsonNode& answer, const Ask& ask, std::size_t first) {
  const JsonNode choices = answer.get("choices");
  if (choices.size_of_array() != 1) choices.refuse("must have one element");
  const JsonNode entries = choices.element(0).get("prompt_logprobs");
  expect_one_a_token(entries, ask);
  std::vector<float> logprobs;
  for (std::size_t i = first; i < ask.prompt.size(); ++i) {
    const JsonNode token = entries.element(i).get(std::to_string(ask.prompt[i]));
    logprobs.push_back(read_logprob(token.get("logprob")));
  }
  return logprobs;
}

}  // namespace
}  // namespace vllm

const Dialect& vllm_dialect() {
  static const Dialect dialect{
      .name = "vllm",
      .server = "vLLM",
      .gives_tokens = true,
      .logprobs = KRL_LOGPROBS_RAW,
      .streams = true,
      .most_at_once = 64,
      .adopts = KRL_WEIGHTS_PEFT | KRL_WEIGHTS_HF,
      .encode = vllm::encode,
      .read = vllm::read,
      .encode_scoring = vllm::encode_scoring,
      .read_scoring = vllm::read_scoring,
  };
  return dialect;
}

}  // namespace krl::openai
