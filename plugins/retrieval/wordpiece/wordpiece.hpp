// Splits words into the longest pieces of a vocabulary, from left to right (WordPiece; Devlin et
// al. 2018). Immutable, hence thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"

namespace krl::retrieval {

using policies::TokenId;

class WordPiece {
 public:
  using Vocabulary = std::unordered_map<std::string, TokenId>;

  // `prefix` marks continuations of a word in the vocabulary ("##"); a word of more characters than
  // `longest_word`, and one that has no split, is the token `unknown`.
  WordPiece(const Vocabulary& vocabulary, const std::string& prefix, std::size_t longest_word,
            TokenId unknown);

  // Appends the tokens of `word`, at least one. REQUIRES: valid UTF-8, not empty.
  void append(std::string_view word, std::vector<TokenId>& tokens) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct Pieces {
    std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids;
    std::size_t longest = 0;  // bytes

    void add(std::string_view text, TokenId id);
    // Finds the longest piece that `text` begins with: returns its size, 0 if there is none, and
    // its id.
    std::size_t longest_prefix(std::string_view text, TokenId& id) const;
  };

  Pieces first_, later_;
  std::size_t longest_word_;
  TokenId unknown_;
};

}  // namespace krl::retrieval
