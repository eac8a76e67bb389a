#include "plugins/retrieval/wordpiece/characters.hpp"

#include <unicode/uchar.h>
#include <unicode/uniset.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <kernelrl/values.hpp>

namespace krl::retrieval {
namespace {

icu::UnicodeSet set_of(const char16_t* pattern) {
  UErrorCode status = U_ZERO_ERROR;
  icu::UnicodeSet set(icu::UnicodeString(pattern), status);
  if (U_FAILURE(status))
    throw Failure(KRL_INTERNAL, std::string("ICU: a set of characters: ") + u_errorName(status));
  set.freeze();
  return set;
}

// Capitals that are newer than Unicode 15, which is Debian 12's; `step` apart from their lower
// case.
struct NewCapitals {
  char32_t first, last;
  std::int32_t step;
};
constexpr NewCapitals kNewCapitals[] = {
    {0x1C89, 0x1C89, 1},      {0xA7CB, 0xA7CB, 0x264 - 0xA7CB},
    {0xA7CC, 0xA7CC, 1},      {0xA7CE, 0xA7CE, 1},
    {0xA7D2, 0xA7D2, 1},      {0xA7D4, 0xA7D4, 1},
    {0xA7DA, 0xA7DA, 1},      {0xA7DC, 0xA7DC, 0x19B - 0xA7DC},
    {0x10D50, 0x10D65, 0x20}, {0x16EA0, 0x16EB8, 0x1B},
};

char32_t lower_case(char32_t c) {
  const auto lower = static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
  if (lower != c) return lower;
  for (const NewCapitals& capitals : kNewCapitals) {
    if (c >= capitals.first && c <= capitals.last) {
      return static_cast<char32_t>(static_cast<std::int32_t>(c) + capitals.step);
    }
  }
  return c;
}

bool is_in(const icu::UnicodeSet& set, char32_t c) {
  return set.contains(static_cast<UChar32>(c)) != 0;
}

}  // namespace

bool is_removed(char32_t c) {
  if (c < 0x80) return c < 0x20 ? c != '\t' && c != '\n' && c != '\r' : c == 0x7F;
  static const icu::UnicodeSet removed = set_of(u"[[[:Cc:][:Cf:][:Co:][:Cs:]]&[:Age=8.0:]\\uFFFD]");
  return is_in(removed, c);
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_WHITE_SPACE) != 0;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') ||
           (c > 'z' && c < 0x7F);
  }
  static const icu::UnicodeSet punctuation = set_of(u"[[:P:]&[:Age=8.0:]\\u166D\\U000111C9]");
  return is_in(punctuation, c);
}

bool is_ideograph(char32_t c) {
  constexpr struct {
    char32_t first, last;
  } kRanges[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
                 {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [c](const auto& range) { return c >= range.first && c <= range.last; });
}

bool is_accent(char32_t c) {
  static const icu::UnicodeSet accents =
      set_of(u"[[[:Mn:]&[:Age=8.0:]]-[\\u1885\\u1886\\uA9BD\\U000111C9]\\u1734]");
  return c >= 0x80 && is_in(accents, c);
}

void append_utf8(char32_t c, std::string& text) {
  char bytes[U8_MAX_LENGTH];
  std::int32_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, c);
  text.append(bytes, static_cast<std::size_t>(size));
}

void append_lower_case(char32_t c, std::string& text) {
  constexpr char32_t kCapitalIWithDot = 0x130;
  if (c == kCapitalIWithDot) {
    text += "i\xCC\x87";
  } else {
    append_utf8(lower_case(c), text);
  }
}

char32_t take_character(std::string_view& text) {
  std::int32_t size = 0;
  char32_t c = 0;
  U8_NEXT_UNSAFE(text.data(), size, c);
  text.remove_prefix(static_cast<std::size_t>(size));
  return c;
}

}  // namespace krl::retrieval
