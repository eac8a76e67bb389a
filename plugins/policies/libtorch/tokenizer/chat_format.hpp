// How a conversation becomes tokens for a model from scratch: `<bos>`, then every message in turn:
// the text of a system or user message as it is, with a newline between two of them; an answer as
// `<answer>` text `<end>`. A prompt ends with the `<answer>` that the model is to continue.
#pragma once

#include <kernelrl/policy.hpp>
#include <string_view>
#include <vector>

#include "tokenizer/byte_pair_encoding.hpp"

namespace krl::libtorch {

// The same as a Hugging Face chat template (Jinja).
inline constexpr std::string_view kChatTemplate =
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}<answer>{{ message['content'] }}<end>"
    "{% else %}{% if not loop.first and messages[loop.index0 - 1]['role'] != 'assistant' %}\n"
    "{% endif %}{{ message['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<answer>{% endif %}";

// The prompt for an answer to `messages`. Throws krl::Failure (KRL_INVALID_ARGUMENT) if there are
// none, or one has a role that the boundary does not know.
std::vector<TokenId> render_prompt(const BytePairEncoding& encoding, const Messages& messages);

// The tokens of an answer to be learned: its text and `<end>`.
std::vector<TokenId> render_answer(const BytePairEncoding& encoding, std::string_view answer);

}  // namespace krl::libtorch
