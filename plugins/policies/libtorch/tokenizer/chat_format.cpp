#include "tokenizer/chat_format.hpp"

namespace krl::libtorch {

std::vector<TokenId> render_prompt(const BytePairEncoding& encoding, const Messages& messages) {
  if (messages.empty()) invalid_argument("a prompt needs at least one message");
  std::vector<TokenId> tokens = {kBeginToken};
  const auto append = [&](std::string_view text) {
    const std::vector<TokenId> encoded = encoding.encode(text);
    tokens.insert(tokens.end(), encoded.begin(), encoded.end());
  };
  bool after_answer = true;
  for (const Message message : messages) {
    switch (message.role()) {
      case KRL_ROLE_SYSTEM:
      case KRL_ROLE_USER:
        if (!after_answer) append("\n");
        append(message.text());
        after_answer = false;
        break;
      case KRL_ROLE_ASSISTANT:
        tokens.push_back(kAnswerToken);
        append(message.text());
        tokens.push_back(kEndToken);
        after_answer = true;
        break;
      default:
        invalid_argument("a message has the unknown role " + std::to_string(message.role()));
    }
  }
  tokens.push_back(kAnswerToken);
  return tokens;
}

std::vector<TokenId> render_answer(const BytePairEncoding& encoding, std::string_view answer) {
  std::vector<TokenId> tokens = encoding.encode(answer);
  tokens.push_back(kEndToken);
  return tokens;
}

}  // namespace krl::libtorch
