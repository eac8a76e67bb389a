#include "plugins/policies/openai/dialect.hpp"

#include <limits>

namespace krl::openai {

std::uint32_t stop_reason_of(const std::string& word) {
  if (word == "stop" || word == "eos" || word == "word" || word == "end_turn") return KRL_STOP_END;
  if (word == "length" || word == "limit" || word == "max_tokens") return KRL_STOP_LENGTH;
  return KRL_STOP_ABORTED;
}

const Dialect* dialect_by_name(std::string_view name) {
  for (const Dialect* dialect :
       {&vllm_dialect(), &sglang_dialect(), &llamacpp_dialect(), &plain_dialect()}) {
    if (dialect->name == name) return dialect;
  }
  return nullptr;
}

std::uint32_t choice_number(const std::optional<JsonNode>& index, const Ask& ask) {
  return index ? static_cast<std::uint32_t>(index->integer(ask.n - 1)) : 0;
}

Choice& open_choice(const JsonNode& node, std::uint32_t number, const Ask& ask, Reply& reply) {
  const auto [choice, is_new] = reply.choices.try_emplace(number);
  if (!is_new && (!ask.stream || choice->second.stop_reason)) {
    node.refuse("a second answer with the index " + std::to_string(number));
  }
  return choice->second;
}

void read_usage(const JsonNode& piece, Reply& reply) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const auto usage = piece.find("usage");
  if (!usage) return;
  if (const auto tokens = usage->find("prompt_tokens")) {
    reply.prompt_tokens = tokens->integer(kMost);
  }
  const auto details = usage->find("prompt_tokens_details");
  const auto cached = details ? details->find("cached_tokens") : std::nullopt;
  if (cached) reply.cached_tokens = cached->integer(kMost);
}

std::vector<TokenId> read_ids(const JsonNode& array) {
  std::vector<TokenId> ids;
  const std::size_t size = array.size_of_array();
  ids.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    ids.push_back(
        static_cast<TokenId>(array.element(i).integer(std::numeric_limits<TokenId>::max())));
  }
  return ids;
}

float read_logprob(const JsonNode& number) { return static_cast<float>(number.number()); }

}  // namespace krl::openai
