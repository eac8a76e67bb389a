// Reads a text word by word as BERT's tokenizers split it (`BertPreTokenizer` of the `tokenizers`
// library): a word is a maximal stretch without white space and punctuation, or one punctuation
// character. Used by one thread at a time.
#pragma once

#include <optional>
#include <string_view>

namespace krl::retrieval {

class WordReader {
 public:
  // REQUIRES: `text` is valid UTF-8 and outlives the words.
  explicit WordReader(std::string_view text) : rest_(text) {}

  // The next word, never empty; nothing at the end of the text.
  std::optional<std::string_view> next();

 private:
  std::string_view rest_;
};

}  // namespace krl::retrieval
