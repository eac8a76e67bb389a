#include "plugins/retrieval/wordpiece/normalisation.hpp"

#include <algorithm>

#include "plugins/policies/tokenizer/normal_form.hpp"
#include "plugins/retrieval/wordpiece/characters.hpp"

namespace krl::retrieval {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The same as the steps below; most of source code is ASCII.
std::string normalise_ascii(std::string_view text, const Normalisation& steps) {
  std::string normal;
  normal.reserve(text.size());
  for (const char c : text) {
    const auto code = static_cast<char32_t>(c);
    if (steps.clean && is_removed(code)) continue;
    const bool capital = steps.lower_case && c >= 'A' && c <= 'Z';
    normal += steps.clean && is_white_space(code) ? ' ' : capital ? static_cast<char>(c + 32) : c;
  }
  return normal;
}

std::string clean(std::string_view text) {
  std::string cleaned;
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (is_removed(c)) continue;
    append_utf8(is_white_space(c) ? U' ' : c, cleaned);
  }
  return cleaned;
}

std::string space_ideographs(std::string_view text) {
  std::string spaced;
  while (!text.empty()) {
    const char32_t c = take_character(text);
    const bool ideograph = is_ideograph(c);
    if (ideograph) spaced += ' ';
    append_utf8(c, spaced);
    if (ideograph) spaced += ' ';
  }
  return spaced;
}

std::string strip_accents(std::string_view text) {
  const std::string decomposed = policies::to_nfd(text);
  std::string stripped;
  for (std::string_view rest = decomposed; !rest.empty();) {
    const char32_t c = take_character(rest);
    if (!is_accent(c)) append_utf8(c, stripped);
  }
  return stripped;
}

std::string lower_case(std::string_view text) {
  std::string lower;
  while (!text.empty()) append_lower_case(take_character(text), lower);
  return lower;
}

}  // namespace

std::string normalise(std::string_view text, const Normalisation& steps) {
  if (is_ascii(text)) return normalise_ascii(text, steps);
  std::string normal(text);
  if (steps.clean) normal = clean(normal);
  if (steps.space_ideographs) normal = space_ideographs(normal);
  if (steps.strip_accents) normal = strip_accents(normal);
  if (steps.lower_case) normal = lower_case(normal);
  return normal;
}

}  // namespace krl::retrieval
