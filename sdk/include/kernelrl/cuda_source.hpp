// What can be read off CUDA source text without a compiler: its tokens, its line comments, the
// heads of its kernels.
//
// The lexical rules of C++ are kept (comments, strings, raw strings, digit separators, line
// splices), so that text inside a string or a comment is never taken for code. Macros are not
// expanded. Any bytes may come in; nothing is thrown. Header-only, C++17, no dependencies.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krl {

struct SourceToken {
  enum Kind { kIdentifier, kNumber, kLiteral, kPunctuation } kind = kPunctuation;
  std::string text;  // splices taken out; a literal's text is empty; punctuation is one character
  int line = 1;      // of its first byte, 1-based
};

// A `//` comment, with what follows the slashes.
struct LineComment {
  std::string text;
  int line = 1;
  int column = 1;            // of the text's first byte, 1-based
  bool starts_line = false;  // nothing but blanks before it on its logical line
  bool spliced = false;      // continued on the next line by a backslash
};

struct CudaSource {
  std::vector<SourceToken> tokens;
  std::vector<LineComment> comments;

  bool mentions(std::string_view identifier) const {
    return std::any_of(tokens.begin(), tokens.end(), [&](const SourceToken& token) {
      return token.kind == SourceToken::kIdentifier && token.text == identifier;
    });
  }
};

CudaSource scan_cuda_source(std::string_view source);

struct KernelParameter {
  std::string name;  // empty if it has none
  std::string type;  // its tokens with blanks between them, without the name
  bool is_pointer = false;
};

// The head of a `__global__` function.
struct KernelHead {
  std::string name;
  std::vector<KernelParameter> parameters;
  int line = 1;  // of `__global__`
  bool is_template = false;
};

// Every kernel once, in the order of the text; a declaration and its definition are one.
std::vector<KernelHead> find_kernels(const CudaSource& source);

// ---- implementation
// ---------------------------------------------------------------------------------------------------

class CudaScanner {
 public:
  explicit CudaScanner(std::string_view source) : source_(source) {}

  CudaSource scan() {
    for (char c = peek(); position_ < source_.size(); c = peek()) {
      if (c == '\n') {
        advance();
        starts_line_ = true;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        advance();
      } else if (c == '/' && peek_after() == '/') {
        scan_line_comment();
      } else if (c == '/' && peek_after() == '*') {
        skip_block_comment();
      } else {
        scan_token(c);
        starts_line_ = false;
      }
    }
    return std::move(result_);
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  // The bytes of a splice (a backslash, blanks, a line's end) at `at`; 0 if there is none.
  std::size_t splice_at(std::size_t at) const {
    if (at >= source_.size() || source_[at] != '\\') return 0;
    const std::size_t end = source_.find_first_not_of(" \t\r", at + 1);
    return end != std::string_view::npos && source_[end] == '\n' ? end + 1 - at : 0;
  }

  // The current character, after any splice; 0 at the end.
  char peek() {
    for (std::size_t size = splice_at(position_); size > 0; size = splice_at(position_)) {
      position_ += size;
      ++line_;
      line_start_ = position_;
      spliced_ = true;
    }
    return position_ < source_.size() ? source_[position_] : '\0';
  }

  // The character after the current one. REQUIRES: peek() was called here.
  char peek_after() const {
    std::size_t at = position_ + 1;
    for (std::size_t size = splice_at(at); size > 0; size = splice_at(at)) at += size;
    return at < source_.size() ? source_[at] : '\0';
  }

  void advance() {
    if (position_ >= source_.size()) return;
    if (source_[position_] == '\n') {
      ++line_;
      line_start_ = position_ + 1;
    }
    ++position_;
  }

  bool at_end() const { return position_ >= source_.size(); }

  void scan_line_comment() {
    LineComment comment;
    comment.starts_line = starts_line_;
    advance();
    peek();
    advance();
    spliced_ = false;
    comment.line = line_;
    comment.column = static_cast<int>(position_ - line_start_) + 1;
    for (char c = peek(); !at_end() && c != '\n'; c = peek()) {
      comment.text += c;
      advance();
    }
    while (!comment.text.empty() && comment.text.back() == '\r') comment.text.pop_back();
    comment.spliced = spliced_;
    result_.comments.push_back(std::move(comment));
  }

  void skip_block_comment() {
    advance();
    peek();
    advance();
    while (!at_end()) {
      const bool closes = peek() == '*' && peek_after() == '/';
      advance();
      if (!closes) continue;
      peek();
      advance();
      break;
    }
    starts_line_ = false;
  }

  void scan_token(char first) {
    SourceToken token;
    token.line = line_;
    if (is_digit(first) || (first == '.' && is_digit(peek_after()))) {
      token.kind = SourceToken::kNumber;
      token.text = take_number();
    } else if (is_word(first)) {
      token.kind = SourceToken::kIdentifier;
      token.text = take_word();
      if (begins_raw_string(token.text)) {
        skip_raw_string();
        token = {SourceToken::kLiteral, {}, token.line};
      }
    } else if (first == '"' || first == '\'') {
      token.kind = SourceToken::kLiteral;
      skip_literal(first);
    } else {
      token.text = std::string(1, first);
      advance();
    }
    result_.tokens.push_back(std::move(token));
  }

  std::string take_word() {
    std::string word;
    for (char c = peek(); is_word(c) && !at_end(); c = peek()) {
      word += c;
      advance();
    }
    return word;
  }

  std::string take_number() {
    std::string number;
    for (char c = peek(); !at_end(); c = peek()) {
      const bool separator = c == '\'' && is_word(peek_after());
      if (!is_word(c) && c != '.' && !separator) break;
      number += c;
      advance();
    }
    return number;
  }

  bool begins_raw_string(const std::string& word) {
    const bool prefix =
        word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
    return prefix && peek() == '"';
  }

  // From the quote on: R"delimiter( … )delimiter". Splices mean nothing inside.
  void skip_raw_string() {
    const std::size_t open = source_.find('(', position_);
    if (open == std::string_view::npos || open - position_ - 1 > 16) return skip_literal('"');
    const std::string close =
        ")" + std::string(source_.substr(position_ + 1, open - position_ - 1)) + "\"";
    const std::size_t found = source_.find(close, open);
    const std::size_t end = found == std::string_view::npos ? source_.size() : found + close.size();
    while (position_ < end) advance();
  }

  // A string or character; one that is not closed ends with its line.
  void skip_literal(char quote) {
    advance();
    for (char c = peek(); !at_end() && c != '\n'; c = peek()) {
      advance();
      if (c == quote) return;
      if (c == '\\' && peek() != '\n') advance();
    }
  }

  std::string_view source_;
  std::size_t position_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
  bool starts_line_ = true;
  bool spliced_ = false;  // a splice was passed since this was last set to false
  CudaSource result_;
};

inline CudaSource scan_cuda_source(std::string_view source) { return CudaScanner(source).scan(); }

class KernelFinder {
 public:
  explicit KernelFinder(const std::vector<SourceToken>& tokens) : tokens_(tokens) {}

  std::vector<KernelHead> find() const {
    std::vector<KernelHead> kernels;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].text != "__global__") continue;
      KernelHead head;
      head.line = tokens_[i].line;
      head.is_template = follows_template(i);
      const auto same_name = [&](const KernelHead& other) { return other.name == head.name; };
      if (!read_head(i + 1, &head)) continue;
      if (std::none_of(kernels.begin(), kernels.end(), same_name))
        kernels.push_back(std::move(head));
    }
    return kernels;
  }

 private:
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }

  // Whether `template <…>` stands before the `__global__` at `i`.
  bool follows_template(std::size_t i) const {
    while (i > 0) {
      const SourceToken& before = tokens_[i - 1];
      const bool qualifier = before.kind == SourceToken::kLiteral || before.text == "extern" ||
                             before.text == "static" || before.text == "inline";
      if (!qualifier) return before.text == ">" && closes_template(i - 1);
      --i;
    }
    return false;
  }

  // Whether the ">" at `i` ends a `template <…>`, and not an `#include <…>`.
  bool closes_template(std::size_t i) const {
    const auto ends = [this](std::size_t k) {
      return is(k, "template") || is(k, "#") || is(k, ";") || is(k, "__global__");
    };
    while (i > 0 && !ends(i)) --i;
    return is(i, "template");
  }

  // The index after the bracket that closes the one at `open`.
  std::size_t skip_brackets(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) --depth;
      if (depth == 0) return i + 1;
    }
    return tokens_.size();
  }

  // Reads name and parameters of the function whose head goes on at `i`.
  bool read_head(std::size_t i, KernelHead* head) const {
    for (; i < tokens_.size(); ++i) {
      if (is(i, ";") || is(i, "{") || is(i, "}")) return false;
      const bool attribute =
          is(i, "__launch_bounds__") || is(i, "__attribute__") || is(i, "alignas");
      if (attribute && is(i + 1, "(")) {
        i = skip_brackets(i + 1) - 1;
      } else if (is(i, "(")) {
        if (tokens_[i - 1].kind != SourceToken::kIdentifier || is(i - 1, "void")) return false;
        head->name = tokens_[i - 1].text;
        read_parameters(i + 1, skip_brackets(i) - 1, head);
        return true;
      }
    }
    return false;
  }

  void read_parameters(std::size_t begin, std::size_t end, KernelHead* head) const {
    std::size_t start = begin;
    int depth = 0;
    for (std::size_t i = begin; i <= end && i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "<")) ++depth;
      if (i < end && (is(i, ")") || is(i, "]") || is(i, ">"))) --depth;
      if (i != end && (depth > 0 || !is(i, ","))) continue;
      const bool nothing = i == start || (i == start + 1 && is(start, "void"));
      if (!nothing) head->parameters.push_back(read_parameter(start, i));
      start = i + 1;
    }
  }

  KernelParameter read_parameter(std::size_t begin, std::size_t end) const {
    KernelParameter parameter;
    std::size_t stop = begin;
    while (stop < end && !is(stop, "=")) ++stop;
    std::size_t name = stop;
    for (std::size_t i = begin; i < stop && !is(i, "["); ++i) {
      if (tokens_[i].kind == SourceToken::kIdentifier && i > begin) name = i;
    }
    for (std::size_t i = begin; i < stop; ++i) {
      if (is(i, "*") || is(i, "[")) parameter.is_pointer = true;
      if (i == name) {
        parameter.name = tokens_[i].text;
      } else {
        parameter.type += (parameter.type.empty() ? "" : " ") + tokens_[i].text;
      }
    }
    return parameter;
  }

  const std::vector<SourceToken>& tokens_;
};

inline std::vector<KernelHead> find_kernels(const CudaSource& source) {
  return KernelFinder(source.tokens).find();
}

}  // namespace krl
