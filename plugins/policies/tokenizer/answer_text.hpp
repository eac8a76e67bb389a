// The text of a growing answer, and where it ends. A value; not thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plugins/policies/tokenizer/utf8.hpp"

namespace krl::policies {

class AnswerText {
 public:
  // Adds the bytes of a token. True if they complete one of the `stops`: the text then ends where
  // the first of these begins.
  bool add(std::string_view bytes, std::span<const std::string> stops);

  // Returns valid UTF-8: other bytes are replaced by U+FFFD.
  std::string text() const { return to_utf8(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace krl::policies
