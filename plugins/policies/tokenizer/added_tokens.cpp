#include "plugins/policies/tokenizer/added_tokens.hpp"

#include <algorithm>

namespace krl::policies {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

}  // namespace

AddedTokens::AddedTokens(std::span<const AddedToken> tokens) {
  for (const AddedToken& token : tokens) {
    sorted_.push_back(&token);
    begins_[byte_at(token.content, 0)] = true;
  }
  std::sort(sorted_.begin(), sorted_.end(),
            [](const auto* a, const auto* b) { return a->content < b->content; });
}

std::optional<AddedTokens::Match> AddedTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    if (!begins_[byte_at(text, begin)]) continue;
    if (const auto match = longest_at(text, begin)) return match;
  }
  return std::nullopt;
}

// Narrows the tokens, byte by byte, to those that match the text at `begin`.
std::optional<AddedTokens::Match> AddedTokens::longest_at(std::string_view text,
                                                          std::size_t begin) const {
  std::optional<Match> longest;
  auto first = sorted_.begin(), last = sorted_.end();
  for (std::size_t size = 0;; ++size) {
    // All in the range begin with the same `size` bytes; one that has no more is the first.
    if (first != last && (*first)->content.size() == size) {
      longest = Match{begin, begin + size, *first};
      ++first;
    }
    if (first == last || begin + size == text.size()) return longest;
    const unsigned char byte = byte_at(text, begin + size);
    const auto next_byte = [size](const AddedToken* token) {
      return byte_at(token->content, size);
    };
    first = std::partition_point(first, last, [&](const auto* t) { return next_byte(t) < byte; });
    last = std::partition_point(first, last, [&](const auto* t) { return next_byte(t) == byte; });
  }
}

}  // namespace krl::policies
