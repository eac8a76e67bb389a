#include "plugins/retrieval/duplicates/python_scanner.hpp"

#include <algorithm>
#include <string>

namespace krl::retrieval {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return starts_name(c) || is_digit(c); }
bool is_quote(char c) { return c == '"' || c == '\''; }

class PythonScanner {
 public:
  explicit PythonScanner(std::string_view text) : text_(text) {}

  std::vector<SourceToken> scan() {
    while (at_ < text_.size()) next();
    return without_documentation();
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void next() {
    const char c = peek();
    if (c == '\n') {
      ++at_;
      ++line_;
      starts_line_ = true;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\\' && peek(1) == '\n') {
      at_ += 2;
      ++line_;
    } else if (starts_name(c)) {
      name();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      take_while(SourceToken::kNumber, [](char x) { return continues_name(x) || x == '.'; });
    } else if (is_quote(c)) {
      literal(at_);
    } else {
      add(SourceToken::kPunctuation, at_, at_ + 1);
    }
  }

  template <class Continues>
  void take_while(SourceToken::Kind kind, Continues continues) {
    std::size_t end = at_;
    while (end < text_.size() && continues(text_[end])) ++end;
    add(kind, at_, end);
  }

  void name() {
    constexpr std::string_view kPrefixes = "rRbBfFuU";
    std::size_t end = at_;
    while (end < text_.size() && end - at_ < 2 && kPrefixes.find(text_[end]) != kPrefixes.npos) {
      ++end;
    }
    if (end > at_ && end < text_.size() && is_quote(text_[end])) return literal(end);
    take_while(SourceToken::kIdentifier, continues_name);
  }

  // A text whose quotes begin at `quote`, with its prefix from here on.
  void literal(std::size_t quote) {
    const char mark = text_[quote];
    const std::string three(3, mark);
    const bool triple = text_.substr(quote, 3) == three;
    std::size_t end = quote + (triple ? 3 : 1);
    while (end < text_.size()) {
      if (text_[end] == '\\') {
        end = std::min(end + 2, text_.size());
      } else if (triple ? text_.substr(end, 3) == three : text_[end] == mark) {
        end += triple ? 3 : 1;
        break;
      } else if (!triple && text_[end] == '\n') {
        break;
      } else {
        ++end;
      }
    }
    add(SourceToken::kLiteral, at_, end);
  }

  void add(SourceToken::Kind kind, std::size_t begin, std::size_t end) {
    const std::string_view text = text_.substr(begin, end - begin);
    constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    if (kind == SourceToken::kPunctuation) {
      if (kOpening.find(text[0]) != kOpening.npos) ++depth_;
      if (kClosing.find(text[0]) != kClosing.npos) depth_ = std::max(depth_ - 1, 0);
    }
    SourceToken token{kind, std::string(text), line_, 1, starts_line_};
    // A line in brackets continues the one before.
    statement_starts_.push_back(starts_line_ && depth_ == 0);
    line_ += static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
    tokens_.push_back(std::move(token));
    starts_line_ = false;
    at_ = end;
  }

  std::vector<SourceToken> without_documentation() {
    std::vector<SourceToken> kept;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const bool alone =
          statement_starts_[i] && (i + 1 == tokens_.size() || tokens_[i + 1].starts_line);
      if (tokens_[i].kind == SourceToken::kLiteral && alone) continue;
      kept.push_back(std::move(tokens_[i]));
    }
    return kept;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool starts_line_ = true;
  int depth_ = 0;  // nesting of brackets
  std::vector<SourceToken> tokens_;
  std::vector<bool> statement_starts_;  // for each token
};

}  // namespace

bool looks_like_python(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t last = line.find_last_not_of(" \t\r");
    const bool colon = last != line.npos && line[last] == ':';
    if (line.starts_with("import ") || line.starts_with("from ") || line.starts_with("def ") ||
        (line.starts_with("class ") && colon)) {
      return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

std::vector<SourceToken> scan_python_source(std::string_view text) {
  return PythonScanner(text).scan();
}

std::string_view literal_contents(std::string_view literal) {
  const std::size_t quote = literal.find_first_of("\"'");
  if (quote == literal.npos) return {};
  const char mark = literal[quote];
  const bool triple = literal.substr(quote, 3) == std::string(3, mark);
  const std::size_t size = triple ? 3 : 1;
  literal.remove_prefix(std::min(quote + size, literal.size()));
  if (literal.size() >= size && literal.ends_with(mark)) literal.remove_suffix(size);
  return literal;
}

}  // namespace krl::retrieval
