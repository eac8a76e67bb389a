// Any OpenAI-compatible server: POST /chat/completions. It renders the prompt, and gives text.
// https://platform.openai.com/docs/api-reference/chat
#include <kernelrl/values.hpp>

#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {
namespace plain {
namespace {

const char* role_name(std::uint32_t role) {
  switch (role) {
    case KRL_ROLE_SYSTEM:
      return "system";
    case KRL_ROLE_USER:
      return "user";
    case KRL_ROLE_ASSISTANT:
      return "assistant";
    default:
      invalid_argument("a message has the role " + std::to_string(role));
  }
}

// Leaves out options that are off by default: some servers refuse them.
Encoded encode(const Ask& ask) {
  Json messages = Json::array();
  for (const ChatMessage& message : ask.messages) {
    messages.push_back({{"role", role_name(message.role)}, {"content", message.text}});
  }
  Json body = {{"model", ask.model},
               {"messages", std::move(messages)},
               {"max_tokens", ask.max_tokens},
               {"temperature", ask.temperature},
               {"seed", ask.seed}};
  if (ask.n > 1) body["n"] = ask.n;
  if (ask.top_p < 1) body["top_p"] = ask.top_p;
  if (ask.top_k > 0) body["top_k"] = ask.top_k;
  if (!ask.stop.empty()) body["stop"] = ask.stop;
  ask_for_stream(ask, body);
  return {"/v1/chat/completions", std::move(body)};
}

// A content is a text or a list of parts; parts of type "thinking" (with a list of parts of their
// own) are thoughts.
void add_content(const JsonNode& content, std::string& text, std::string& thoughts) {
  if (!content.value().is_array()) {
    text += content.text();
    return;
  }
  for (const JsonNode& part : content.elements()) {
    if (const auto said = part.find("text")) text += said->text();
    if (const auto thinking = part.find("thinking")) add_content(*thinking, thoughts, thoughts);
  }
}

void read_choice(const JsonNode& node, Choice& choice) {
  const auto delta = node.find("delta");
  const JsonNode message = delta ? *delta : node.get("message");
  if (const auto content = message.find("content")) {
    add_content(*content, choice.text, choice.thoughts);
  }
  // DeepSeek, vLLM, SGLang and llama.cpp; OpenRouter, Groq and newer vLLM.
  for (const char* field : {"reasoning_content", "reasoning"}) {
    const auto reasoning = message.find(field);
    if (!reasoning || !reasoning->value().is_string()) continue;
    choice.thoughts += reasoning->text();
    break;
  }
  if (const auto reason = node.find("finish_reason")) end_choice(choice, reason->text());
}

void read(const JsonNode& piece, const Ask& ask, Reply& reply) {
  if (const auto model = piece.find("model")) reply.model = model->text();
  const JsonNode choices = piece.get("choices");
  for (const JsonNode& node : choices.elements()) {
    const std::uint32_t number = choice_number(node.find("index"), ask);
    // Some servers send more after the end: an empty delta with the usage.
    const bool goes_on = ask.stream && reply.choices.count(number) > 0;
    read_choice(node, goes_on ? reply.choices[number] : open_choice(node, number, ask, reply));
  }
  read_usage(piece, reply);
}

}  // namespace
}  // namespace plain

const Dialect& plain_dialect() {
  static const Dialect dialect{
      .name = "plain",
      .server = "an OpenAI-compatible server",
      .gives_tokens = false,
      .logprobs = KRL_LOGPROBS_UNKNOWN,
      .streams = true,
      .most_at_once = 64,
      .adopts = 0,
      .encode = plain::encode,
      .read = plain::read,
      .optional_fields = {"/n", "/seed", "/top_k", "/temperature", "/stream_options"},
  };
  return dialect;
}

}  // namespace krl::openai
