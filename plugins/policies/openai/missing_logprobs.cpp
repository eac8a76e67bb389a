#include "plugins/policies/openai/missing_logprobs.hpp"

#include <algorithm>

namespace krl::openai {

void fill_missing(Asking& asking, const Dialect& dialect, const Expected& expected, Choice& choice,
                  const Terms& terms, Yield yield) {
  if (dialect.encode_token == nullptr || choice.logprobs.size() != choice.tokens.size()) return;
  const std::size_t size = tokens_of_answer(choice, expected);
  // The forced token is not used; it must be one that the server has a log-probability for.
  const TokenId forced = expected.chat->tokenizer().encode("a").front();
  for (std::size_t i = 0; i < size; ++i) {
    if (choice.logprobs[i]) continue;
    Ask ask;
    ask.prompt = expected.prompt;
    ask.prompt.insert(ask.prompt.end(), choice.tokens.begin(),
                      choice.tokens.begin() + static_cast<std::ptrdiff_t>(i));
    choice.logprobs[i] = asking.score_token(ask, choice.tokens[i], forced, terms, yield);
  }
}

}  // namespace krl::openai
