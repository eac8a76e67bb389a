#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {

void end_choice(Choice& choice, const std::string& word) {
  if (word == "stop" || word == "eos" || word == "word" || word == "end_turn") {
    choice.stop_reason = KRL_STOP_END;
  } else if (word == "length" || word == "limit" || word == "max_tokens") {
    choice.stop_reason = KRL_STOP_LENGTH;
  } else {
    choice.stop_reason = KRL_STOP_ABORTED;
    choice.end_word = "the reason \"" + word + "\"";
  }
}

const Dialect* dialect_by_name(std::string_view name) {
  for (const Dialect* dialect :
       {&vllm_dialect(), &sglang_dialect(), &llamacpp_dialect(), &plain_dialect()}) {
    if (dialect->name == name) return dialect;
  }
  return nullptr;
}

void ask_for_stream(const Ask& ask, Json& body) {
  if (!ask.stream) return;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
}

void expect_one_a_token(const JsonNode& entries, const Ask& ask) {
  if (entries.size_of_array() == ask.prompt.size()) return;
  entries.refuse(std::to_string(entries.size_of_array()) + " entries for " +
                 std::to_string(ask.prompt.size()) + " tokens");
}

std::uint32_t choice_number(const std::optional<JsonNode>& index, const Ask& ask) {
  if (!index) return 0;
  if (!index->value().is_string()) return static_cast<std::uint32_t>(index->integer(ask.n - 1));
  const Json number = Json::parse(index->text(), nullptr, false);  // some gateways quote it
  return static_cast<std::uint32_t>(JsonNode(number, index->path()).integer(ask.n - 1));
}

Choice& open_choice(const JsonNode& node, std::uint32_t number, const Ask& ask, Reply& reply) {
  const auto [choice, is_new] = reply.choices.try_emplace(number);
  if (!is_new && (!ask.stream || choice->second.stop_reason)) {
    node.refuse("a second answer with the index " + std::to_string(number));
  }
  return choice->second;
}

void read_usage(const JsonNode& piece, Reply& reply) {
  // An answer is worth more than its statistics: invalid counts are left out.
  const auto count = [&piece](const char* pointer, std::int64_t& out) {
    constexpr double kMost = 1e12;
    const Json::json_pointer at(pointer);
    const Json& whole = piece.value();
    if (!whole.is_object() || !whole.contains(at) || !whole.at(at).is_number()) return;
    const auto number = whole.at(at).get<double>();
    if (number >= 0 && number <= kMost) out = static_cast<std::int64_t>(number);
  };
  count("/usage/prompt_tokens", reply.prompt_tokens);
  count("/usage/completion_tokens", reply.answer_tokens);
  count("/usage/prompt_tokens_details/cached_tokens", reply.cached_tokens);
}

float read_logprob(const JsonNode& number) { return static_cast<float>(number.number()); }

}  // namespace krl::openai
