// The properties of a tokenizer that a generator needs. Thread-safe if `bytes` is.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/answer_text.hpp"
#include "plugins/policies/tokenizer/merge_table.hpp"

namespace krl::libtorch {

using policies::AnswerText;
using policies::TokenId;

struct TokenTexts {
  // Returns the bytes of a token, which need not be valid UTF-8; nothing for special tokens. The
  // result lives as long as the tokenizer.
  std::function<std::string_view(TokenId)> bytes;
  std::vector<TokenId> ends;  // the ids that end an answer
};

}  // namespace krl::libtorch
