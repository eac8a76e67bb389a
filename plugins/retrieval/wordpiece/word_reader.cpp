#include "plugins/retrieval/wordpiece/word_reader.hpp"

#include "plugins/retrieval/wordpiece/characters.hpp"

namespace krl::retrieval {

std::optional<std::string_view> WordReader::next() {
  std::size_t size = 0;  // length of the word so far
  for (std::string_view rest = rest_; !rest.empty();) {
    const std::size_t at = rest.size();
    const char32_t c = take_character(rest);
    const std::size_t width = at - rest.size();
    const bool space = is_white_space(c), ends = space || is_punctuation(c);
    if (ends && size > 0) break;
    if (space) {
      rest_ = rest;
      continue;
    }
    size += width;
    if (ends) break;
  }
  if (size == 0) {
    rest_ = {};
    return std::nullopt;
  }
  const std::string_view word = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return word;
}

}  // namespace krl::retrieval
