// Chat templates: how each family of models formats a conversation. Each is implemented here in C++
// and produces, character for character, the output of its Jinja template for messages with the
// roles system, user and assistant, without tools.
#pragma once

#include <kernelrl/policy.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::policies {

enum class ChatFamily {
  kScratch,        // models from scratch
  kChatml,         // <|im_start|>role … <|im_end|>, nothing else
  kSmollm2,        // ChatML; adds a default system message if there is none
  kQwen2,          // the same, with another
  kQwen25,         // and another
  kQwen3,          // ChatML; thoughts of earlier answers are dropped, later ones in <think>
  kQwen3Instruct,  // ChatML (the releases of July 2025 that do not think)
  kLlama3,         // <|start_header_id|>role<|end_header_id|> … <|eot_id|>; texts are stripped
  kLlama31,        // the same after a system message with a date
};

// The name of a family in a plan: "chatml", "smollm2", "qwen2", "qwen2.5", "qwen3",
// "qwen3-instruct", "llama3", "llama3.1"; and "scratch".
std::string_view chat_family_name(ChatFamily family);

// The family of that name. Throws krl::Failure (KRL_INVALID_ARGUMENT) that lists the known ones.
ChatFamily chat_family_by_name(std::string_view name);

// The family whose published template this Jinja text is; nothing if it is not a family's. Only
// whole texts are known: a template that has been changed may mean anything.
std::optional<ChatFamily> chat_family_of_template(std::string_view jinja);

// The SHA-256 by which chat_family_of_template() knows a template, in hexadecimal.
std::string chat_template_digest(std::string_view jinja);

struct ChatOptions {
  bool thinking = true;  // qwen3: false closes the thoughts before the answer begins
  // llama3.1: "Today Date". Llama 3.1's template uses this date by default; that of Llama 3.2 would
  // use the day of the call.
  std::string date = "26 Jul 2024";
};

// A part of a rendered conversation: text, or the name of a special token.
struct ChatPart {
  bool control;
  std::string text;
};

// The prompt for an answer to `messages`. Neighbouring texts are one part; invalid UTF-8 becomes
// U+FFFD. Throws krl::Failure (KRL_INVALID_ARGUMENT) if there are no messages, or one has a role
// that the boundary does not know.
std::vector<ChatPart> render_chat(ChatFamily family, const ChatOptions& options,
                                  const Messages& messages);

// The special token that ends an answer.
std::string_view end_of_answer(ChatFamily family);

// The special tokens that render_chat() uses, end_of_answer() among them.
std::vector<std::string_view> control_tokens(ChatFamily family);

// The template of models from scratch as Jinja.
inline constexpr std::string_view kScratchTemplate =
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}<answer>{{ message['content'] }}<end>"
    "{% else %}{% if not loop.first and messages[loop.index0 - 1]['role'] != 'assistant' %}"
    "{{ '\\n' }}{% endif %}{{ message['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<answer>{% endif %}";

}  // namespace krl::policies
