#include "tokenizer/chat_format.hpp"

namespace krl::libtorch {

std::vector<TokenId> render_prompt(const Tokenizer& tokenizer, const Messages& messages) {
  return ChatTokenizer(tokenizer, ChatFamily::kScratch, {}, {}).prompt(messages);
}

std::vector<TokenId> render_answer(const Tokenizer& tokenizer, std::string_view answer) {
  return ChatTokenizer(tokenizer, ChatFamily::kScratch, {}, {}).answer(answer);
}

}  // namespace krl::libtorch
