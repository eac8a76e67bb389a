#include "plugins/retrieval/wordpiece/wordpiece.hpp"

#include <algorithm>

namespace krl::retrieval {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t characters(std::string_view word) {
  return word.size() -
         static_cast<std::size_t>(std::count_if(word.begin(), word.end(), continues_character));
}

}  // namespace

void WordPiece::Pieces::add(std::string_view text, TokenId id) {
  ids.emplace(text, id);
  longest = std::max(longest, text.size());
}

std::size_t WordPiece::Pieces::longest_prefix(std::string_view text, TokenId& id) const {
  for (std::size_t size = std::min(longest, text.size()); size > 0; --size) {
    if (size < text.size() && continues_character(text[size])) continue;
    const auto found = ids.find(text.substr(0, size));
    if (found == ids.end()) continue;
    id = found->second;
    return size;
  }
  return 0;
}

WordPiece::WordPiece(const Vocabulary& vocabulary, const std::string& prefix,
                     std::size_t longest_word, TokenId unknown)
    : longest_word_(longest_word), unknown_(unknown) {
  for (const auto& [text, id] : vocabulary) {
    first_.add(text, id);
    if (text.starts_with(prefix)) later_.add(std::string_view(text).substr(prefix.size()), id);
  }
}

void WordPiece::append(std::string_view word, std::vector<TokenId>& tokens) const {
  if (characters(word) > longest_word_) {
    tokens.push_back(unknown_);
    return;
  }
  const std::size_t before = tokens.size();
  const Pieces* pieces = &first_;
  while (!word.empty()) {
    TokenId id = unknown_;
    const std::size_t size = pieces->longest_prefix(word, id);
    if (size == 0) {
      tokens.resize(before);
      tokens.push_back(unknown_);
      return;
    }
    tokens.push_back(id);
    word.remove_prefix(size);
    pieces = &later_;
  }
}

}  // namespace krl::retrieval
