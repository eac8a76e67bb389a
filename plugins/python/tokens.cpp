#include "plugins/python/tokens.hpp"

#include <unicode/utf8.h>  // macros, without the library

#include <algorithm>
#include <cctype>
#include <charconv>

namespace krl::python {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  std::vector<Token> scan() {
    while (at_ < source_.size()) {
      if (line_begins_ && depth_ == 0) {
        indent();
      } else {
        scan_one();
      }
    }
    end_line();
    while (indents_.size() > 1) dedent();
    add(Token::kEnd, "");
    return std::move(tokens_);
  }

 private:
  char here(std::size_t offset = 0) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }
  void add(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), line_});
  }
  void dedent() {
    indents_.pop_back();
    add(Token::kDedent, "");
  }
  void end_line() {
    const bool empty = tokens_.empty() || tokens_.back().kind == Token::kNewline ||
                       tokens_.back().kind == Token::kIndent ||
                       tokens_.back().kind == Token::kDedent;
    if (!empty) add(Token::kNewline, "");
    line_begins_ = true;
  }
  void skip_comment() {
    while (at_ < source_.size() && here() != '\n') ++at_;
  }

  // The blanks at the beginning of a line; a line without code changes nothing.
  void indent() {
    std::size_t width = 0;
    for (; here() == ' ' || here() == '\t'; ++at_)
      width = here() == ' ' ? width + 1 : (width | 7) + 1;
    if (here() == '#') skip_comment();
    if (here() == '\r' && here(1) == '\n') ++at_;
    if (at_ >= source_.size()) return;
    if (here() == '\n') {
      ++at_;
      ++line_;
      return;
    }
    line_begins_ = false;
    while (width < indents_.back()) dedent();
    if (width == indents_.back()) return;
    indents_.push_back(width);
    add(Token::kIndent, "");
  }

  void scan_one() {
    const char c = here();
    if (c == '\n') {
      if (depth_ == 0) end_line();
      ++at_;
      ++line_;
    } else if (c == '\\' && (here(1) == '\n' || here(1) == '\r')) {
      at_ += here(1) == '\n' ? 2 : 3;
      ++line_;
    } else if (c == '#') {
      skip_comment();
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else if (is_digit(c) || (c == '.' && is_digit(here(1)))) {
      number();
    } else if (is_word(c)) {
      word();
    } else if (c == '"' || c == '\'') {
      string("");
    } else {
      punctuation();
    }
  }

  void number() {
    const std::size_t begin = at_;
    while (
        is_word(here()) || here() == '.' ||
        ((here() == '+' || here() == '-') && (source_[at_ - 1] == 'e' || source_[at_ - 1] == 'E')))
      ++at_;
    add(Token::kNumber, std::string(source_.substr(begin, at_ - begin)));
  }

  void word() {
    const std::size_t begin = at_;
    while (is_word(here())) ++at_;
    std::string text(source_.substr(begin, at_ - begin));
    const bool is_prefix = text.size() <= 2 && text.find_first_not_of("rRbBfFuU") == text.npos;
    if (is_prefix && (here() == '"' || here() == '\'')) return string(text);
    add(Token::kName, std::move(text));
  }

  void string(std::string prefix) {
    for (char& c : prefix) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool raw = prefix.find('r') != std::string::npos;
    const char quote = here();
    const bool triple = here(1) == quote && here(2) == quote;
    at_ += triple ? 3 : 1;
    Token token{Token::kString, "", line_};
    if (prefix.find_first_not_of("fru") != std::string::npos) {
      token.kind = Token::kOddString;
    } else if (prefix.find('f') != std::string::npos) {
      token.kind = Token::kFormat;
    }
    for (;;) {
      if (at_ >= source_.size() || (here() == '\n' && !triple)) {
        token.kind = Token::kOddString;
        break;
      }
      if (here() == quote && (!triple || (here(1) == quote && here(2) == quote))) {
        at_ += triple ? 3 : 1;
        break;
      }
      if (here() == '\n') ++line_;
      if (here() == '\\' && at_ + 1 < source_.size()) {
        if (!escape(raw, &token.text)) token.kind = Token::kOddString;
      } else {
        token.text += source_[at_++];
      }
    }
    tokens_.push_back(std::move(token));
  }

  // Returns false for a code without a character.
  bool escape(bool raw, std::string* text) {
    static constexpr std::string_view kNames = "abfnrtv\\'\"", kValues = "\a\b\f\n\r\t\v\\'\"";
    const char c = here(1);
    at_ += 2;
    if (c == '\n') ++line_;
    if (raw) {
      *text += {'\\', c};
    } else if (const std::size_t known = kNames.find(c); known != kNames.npos) {
      *text += kValues[known];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      return code(digits, digits, 16, text);
    } else if (c >= '0' && c <= '7') {
      --at_;
      return code(1, 3, 8, text);
    } else if (c != '\n') {  // a backslash before it joins lines
      *text += {'\\', c};
    }
    return true;
  }

  // Appends a character that is given by its number.
  bool code(std::size_t least, std::size_t most, int base, std::string* text) {
    const std::string_view digits = source_.substr(at_, most);
    std::uint32_t number = 0;
    const char* const end =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    const auto read = static_cast<std::size_t>(end - digits.data());
    if (read < least || number > 0x10ffff) return false;
    at_ += read;
    char bytes[U8_MAX_LENGTH];
    std::size_t size = 0;
    U8_APPEND_UNSAFE(bytes, size, number);
    text->append(bytes, size);
    return true;
  }

  void punctuation() {
    static constexpr std::string_view kLong[] = {
        "**=", "//=", "...", "->", ":=", "==", "!=", "<=", ">=",
        "**",  "//",  "+=",  "-=", "*=", "/=", "%=", "@="};
    const std::string_view rest = source_.substr(at_);
    const auto found = std::find_if(std::begin(kLong), std::end(kLong), [&](std::string_view text) {
      return rest.rfind(text, 0) == 0;
    });
    const std::string text(found == std::end(kLong) ? rest.substr(0, 1) : *found);
    if (text == "(" || text == "[" || text == "{") ++depth_;
    if ((text == ")" || text == "]" || text == "}") && depth_ > 0) --depth_;
    add(Token::kOperator, text);
    at_ += text.size();
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  int depth_ = 0;  // nesting of brackets
  bool line_begins_ = true;
  std::vector<std::size_t> indents_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> python_tokens(std::string_view source) { return Scanner(source).scan(); }

}  // namespace krl::python
