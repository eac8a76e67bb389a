// The classes of characters that BERT's tokenizers distinguish, according to the `tokenizers`
// library (0.23). Its tables of categories are those of Unicode 8 with a few entries of their own,
// and its lower case that of Unicode 17; characters newer than a table have no class. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace krl::retrieval {

// NUL, U+FFFD, controls but for tab and line ends, format characters, private use.
bool is_removed(char32_t c);

// Unicode's White_Space.
bool is_white_space(char32_t c);

// ASCII that is neither letter, digit, blank nor control; elsewhere the categories P*.
bool is_punctuation(char32_t c);

// The ideographs that get blanks around them.
bool is_ideograph(char32_t c);

// True for characters that stripping accents removes from a text in normal form D: category Mn.
bool is_accent(char32_t c);

// Appends the lower case of one character, which is several for U+0130. No context: a capital
// sigma is never final.
void append_lower_case(char32_t c, std::string& text);

void append_utf8(char32_t c, std::string& text);

// Takes the first character off `text`. REQUIRES: valid UTF-8, not empty.
char32_t take_character(std::string_view& text);

}  // namespace krl::retrieval
