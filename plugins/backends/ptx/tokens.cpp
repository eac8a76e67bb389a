#include "plugins/backends/ptx/tokens.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace krl::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Characters that may continue an identifier; it may begin with a letter or with one of "_$%".
constexpr std::array<bool, 256> kFollows = [] {
  std::array<bool, 256> follows{};
  for (int c = 'a'; c <= 'z'; ++c) follows[c] = follows[c - 'a' + 'A'] = true;
  for (int c = '0'; c <= '9'; ++c) follows[c] = true;
  follows['_'] = follows['$'] = true;
  return follows;
}();

bool follows(char c) { return kFollows[static_cast<unsigned char>(c)]; }

std::size_t end_of_name(std::string_view text, std::size_t at) {
  while (at < text.size() && follows(text[at])) ++at;
  return at;
}

std::size_t end_of_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// Returns the end of a number: "1", "1.5", "1.5e-3", "0x1FU", "0f3F800000".
std::size_t end_of_number(std::string_view text) {
  std::size_t end = end_of_digits(text, 0);
  const bool fraction = end < text.size() && text[end] == '.';
  if (fraction) end = end_of_digits(text, end + 1);
  const bool hexadecimal = text.size() > 1 && text[0] == '0' && !is_digit(text[1]) && !fraction;
  if (!hexadecimal && end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    ++end;
    if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
  }
  return end_of_name(text, end);
}

}  // namespace

void fail(ReadProblem::Kind kind, std::string message, std::uint32_t line) {
  throw ReadProblem{kind, std::move(message), {line, 0}};
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string quote = "'";
  quote.append(text.substr(0, kLongest));
  if (text.size() > kLongest) quote += "...";
  return quote += "'";
}

Tokens::Tokens(std::string_view text) : rest_(text) { advance(); }

Token Tokens::take() {
  const Token taken = next_;
  advance();
  return taken;
}

bool Tokens::accept(std::string_view text) {
  if (!next_.is(text)) return false;
  advance();
  return true;
}

void Tokens::expect(std::string_view text) {
  if (!accept(text)) unexpected(quoted(text));
}

Token Tokens::expect(Token::Kind kind, std::string_view what) {
  if (next_.kind != kind) unexpected(what);
  return take();
}

void Tokens::malformed(std::string message) const {
  fail(ReadProblem::kMalformed, std::move(message), next_.line);
}

void Tokens::unsupported(std::string what) const {
  fail(ReadProblem::kUnsupported, std::move(what), next_.line);
}

void Tokens::too_large(std::string_view what) const {
  fail(ReadProblem::kTooLarge, "too large: " + std::string(what), next_.line);
}

void Tokens::unexpected(std::string_view expected) const {
  const std::string found = next_.kind == Token::kEnd ? "the end of the text" : quoted(next_.text);
  malformed("expected " + std::string(expected) + " instead of " + found);
}

void Tokens::advance() {
  skip_blanks();
  next_ = {Token::kEnd, {}, line_};
  if (rest_.empty()) return;
  const char first = rest_.front();
  const char second = rest_.size() > 1 ? rest_[1] : '\0';
  if (is_digit(first)) {
    read_number();
  } else if (follows(first) || (first == '%' && follows(second))) {
    keep(Token::kWord, end_of_name(rest_, 1));
  } else if (first == '.' && follows(second)) {
    read_directive();
  } else if (first == '"') {
    read_text();
  } else {
    read_sign();
  }
}

void Tokens::keep(Token::Kind kind, std::size_t length) {
  next_ = {kind, rest_.substr(0, length), line_};
  rest_.remove_prefix(length);
}

void Tokens::skip_blanks() {
  for (; !rest_.empty(); rest_.remove_prefix(1)) {
    const char c = rest_.front();
    if (c == '/' && rest_.size() > 1 && (rest_[1] == '/' || rest_[1] == '*')) {
      skip_comment();
      if (rest_.empty()) return;
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      return;
    }
    if (rest_.front() == '\n') ++line_;
  }
}

// Leaves the last character of the comment, or the line's end, for the caller to skip.
void Tokens::skip_comment() {
  if (rest_[1] == '/') {
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    return;
  }
  const std::size_t end = rest_.find("*/", 2);
  if (end == std::string_view::npos) {
    fail(ReadProblem::kMalformed, "a comment does not end", line_);
  }
  line_ += static_cast<std::uint32_t>(
      std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  rest_.remove_prefix(end + 1);
}

// ".mbarrier::complete_tx::bytes" is one.
void Tokens::read_directive() {
  std::size_t end = end_of_name(rest_, 1);
  while (rest_.substr(end, 2) == "::" && end + 2 < rest_.size() && follows(rest_[end + 2])) {
    end = end_of_name(rest_, end + 2);
  }
  keep(Token::kDirective, end);
}

void Tokens::read_number() { keep(Token::kNumber, end_of_number(rest_)); }

void Tokens::read_text() {
  const std::size_t end = rest_.find_first_of("\"\n", 1);
  if (end == std::string_view::npos || rest_[end] == '\n') {
    fail(ReadProblem::kMalformed, "a text in quotes does not end", line_);
  }
  keep(Token::kText, end + 1);
  next_.text = next_.text.substr(1, end - 1);
}

void Tokens::read_sign() {
  constexpr std::string_view kSigns = "{}()[]<>,;:@!|&^~+-*/%?=";
  constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  const std::string_view two = rest_.substr(0, 2);
  if (std::find(std::begin(kPairs), std::end(kPairs), two) != std::end(kPairs)) {
    keep(Token::kSign, 2);
  } else if (kSigns.find(rest_.front()) != std::string_view::npos) {
    keep(Token::kSign, 1);
  } else {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(rest_.front());
    const char code[] = {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '\0'};
    fail(ReadProblem::kMalformed, std::string("the character ") + code + " has no meaning in PTX",
         line_);
  }
}

}  // namespace krl::ptx
