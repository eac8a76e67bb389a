// The names that the engine still calls the chat template of models from scratch by.
#pragma once

#include "tokenizer/byte_pair_encoding.hpp"
#include "tokenizer/chat_template.hpp"

namespace krl::libtorch {

std::vector<TokenId> render_prompt(const Tokenizer& tokenizer, const Messages& messages);
std::vector<TokenId> render_answer(const Tokenizer& tokenizer, std::string_view answer);

}  // namespace krl::libtorch
