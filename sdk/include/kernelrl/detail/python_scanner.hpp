// The tokens and comments of Python text; see python_source.hpp, which includes this.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <kernelrl/python_source.hpp>

namespace krl {

class PythonScanner {
 public:
  explicit PythonScanner(std::string_view source) : source_(source) {}

  ScannedSource scan() {
    while (at_ < source_.size()) next();
    return std::move(result_);
  }

 private:
  static bool starts_name(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool continues_name(char c) { return starts_name(c) || is_digit(c); }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void next() {
    const char c = peek();
    if (c == '\n') {
      end_line();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 1 : 2;
      next_line();
    } else if (c == ' ' || c == '\t' || c == '\f' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      comment();
    } else if (const std::size_t prefix = string_prefix(); prefix != std::string_view::npos) {
      string(prefix);
    } else if (starts_name(c)) {
      take(SourceToken::kIdentifier, continues_name);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      take(SourceToken::kNumber, [](char d) { return continues_name(d) || d == '.'; });
    } else {
      punctuation();
    }
  }

  void next_line() {
    ++at_;
    ++line_;
    line_begin_ = at_;
    only_blanks_ = true;
  }

  void end_line() {
    if (depth_ == 0) starts_line_ = true;
    next_line();
  }

  std::uint32_t column() const { return static_cast<std::uint32_t>(at_ - line_begin_) + 1; }

  void comment() {
    LineComment comment;
    comment.line = static_cast<int>(line_);
    comment.column = static_cast<int>(column()) + 1;
    comment.starts_line = only_blanks_ && depth_ == 0;
    const std::size_t end = (std::min)(source_.find('\n', at_), source_.size());
    comment.text = std::string(source_.substr(at_ + 1, end - at_ - 1));
    if (!comment.text.empty() && comment.text.back() == '\r') comment.text.pop_back();
    at_ = end;
    result_.comments.push_back(std::move(comment));
  }

  // The length of the letters before a string's quotes, as in rb"…"; npos if no string begins here.
  std::size_t string_prefix() const {
    constexpr std::string_view kLetters = "rRbBuUfF";
    std::size_t n = 0;
    while (n < 2 && kLetters.find(peek(n)) != std::string_view::npos) ++n;
    return peek(n) == '"' || peek(n) == '\'' ? n : std::string_view::npos;
  }

  void string(std::size_t prefix) {
    const std::size_t begin = at_;
    const SourceToken place = token_here(SourceToken::kLiteral);
    at_ += prefix;
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::string close(triple ? 3 : 1, quote);
    at_ += close.size();
    while (at_ < source_.size() && source_.substr(at_, close.size()) != close) {
      if (peek() == '\n' && !triple) break;  // it does not end
      if (peek() == '\\' && at_ + 1 < source_.size()) ++at_;
      if (peek() == '\r' && peek(1) == '\n') ++at_;  // the end of a line, as Python reads it
      if (peek() == '\n') {
        next_line();
      } else {
        ++at_;
      }
    }
    if (source_.substr(at_, close.size()) == close) at_ += close.size();
    only_blanks_ = false;
    add(place, begin);
  }

  template <class Continues>
  void take(SourceToken::Kind kind, Continues continues) {
    const std::size_t begin = at_;
    const SourceToken token = token_here(kind);
    while (at_ < source_.size() && continues(source_[at_])) ++at_;
    add(token, begin);
  }

  void punctuation() {
    const char c = peek();
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    const SourceToken token = token_here(SourceToken::kPunctuation);
    ++at_;
    add(token, at_ - 1);
  }

  SourceToken token_here(SourceToken::Kind kind) const {
    return {kind, {}, line_, column(), starts_line_};
  }

  void add(SourceToken token, std::size_t begin) {
    token.text = std::string(source_.substr(begin, at_ - begin));
    result_.tokens.push_back(std::move(token));
    starts_line_ = only_blanks_ = false;
  }

  std::string_view source_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::uint32_t line_ = 1;
  int depth_ = 0;            // open brackets, in which the end of a line means nothing
  bool starts_line_ = true;  // no token yet on this logical line
  bool only_blanks_ = true;  // nor on this line of the text
  ScannedSource result_;
};

inline ScannedSource scan_python_source(std::string_view source) {
  return PythonScanner(source).scan();
}

}  // namespace krl
