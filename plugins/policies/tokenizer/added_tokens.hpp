// Finds added tokens in a text. Immutable, hence thread-safe.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/tokenizer_definition.hpp"

namespace krl::policies {

class AddedTokens {
 public:
  struct Match {
    std::size_t begin, end;
    const AddedToken* token;
  };

  // REQUIRES: no token has the content of another; `tokens` outlives this.
  explicit AddedTokens(std::span<const AddedToken> tokens);

  // The leftmost occurrence of a token at or after `from`, of several there the longest.
  std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  std::optional<Match> longest_at(std::string_view text, std::size_t begin) const;

  std::vector<const AddedToken*> sorted_;  // sorted by content
  std::array<bool, 256> begins_ = {};      // true if a token begins with this byte
};

}  // namespace krl::policies
