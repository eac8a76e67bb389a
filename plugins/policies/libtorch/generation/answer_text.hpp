// The text of a growing answer, and where it ends. A value; not thread-safe.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"

namespace krl::libtorch {

using policies::TokenId;

// The properties of a tokenizer that a generator needs. Thread-safe if `bytes` is.
struct TokenTexts {
  // Returns the bytes of a token, which need not be valid UTF-8; nothing for special tokens. The
  // result lives as long as the tokenizer.
  std::function<std::string_view(TokenId)> bytes;
  std::vector<TokenId> ends;  // the ids that end an answer
};

class AnswerText {
 public:
  // Adds the bytes of a token. True if they complete one of the `stops`: the text then ends where
  // the first of these begins.
  bool add(std::string_view bytes, std::span<const std::string> stops);

  // Returns valid UTF-8: other bytes are replaced by U+FFFD.
  std::string text() const { return policies::to_utf8(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace krl::libtorch
