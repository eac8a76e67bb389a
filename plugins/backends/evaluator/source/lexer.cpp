#include "plugins/backends/evaluator/source/lexer.hpp"

#include <array>
#include <cctype>
#include <utility>

namespace krl {
namespace {

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

// A character after splicing, and where it stands.
struct Character {
  char c;
  bool spliced;  // stands behind a splice
  std::uint32_t line, column;
};

// Longest first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kDigraphs = {
    {{"%:%:", "##"}, {"<%", "{"}, {"%>", "}"}, {"<:", "["}, {":>", "]"}, {"%:", "#"}}};

constexpr std::string_view kTrigraphEnds = "=/'()!<>-";

class Lexer {
 public:
  explicit Lexer(std::string_view source) { splice(source); }

  LexedSource run() {
    while (at_ < characters_.size()) next();
    return std::move(result_);
  }

 private:
  // Removes "backslash, blanks, end of line", as g++ does, and says what is out of place.
  void splice(std::string_view source) {
    std::uint32_t line = 1, column = 1;
    bool spliced = false;
    for (std::size_t i = 0; i < source.size(); ++i) {
      const char c = source[i];
      check_character(source, i, line, column);
      std::size_t end = i + 1;
      while (c == '\\' && end < source.size() && (is_blank(source[end]) || source[end] == '\r')) {
        ++end;
      }
      if (c == '\\' && end < source.size() && source[end] == '\n') {
        i = end;
        ++line;
        column = 1;
        spliced = true;
        continue;
      }
      if (c != '\r') characters_.push_back({c, std::exchange(spliced, false), line, column});
      ++column;
      if (c == '\n') ++line, column = 1;
    }
  }

  void check_character(std::string_view source, std::size_t i, std::uint32_t line,
                       std::uint32_t column) {
    const char c = source[i];
    const auto code = static_cast<unsigned char>(c);
    const bool line_end = c == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
    if ((code < 0x20 && c != '\n' && !is_blank(c) && !line_end) || code == 0x7f) {
      problem({line, column, "a control character"});
    }
    // Of no character in UTF-8, and the end of the source to NVRTC.
    if (code == 0xff) problem({line, column, "the byte 0xff"});
    const bool trigraph = c == '?' && i + 2 < source.size() && source[i + 1] == '?' &&
                          kTrigraphEnds.find(source[i + 2]) != std::string_view::npos;
    if (trigraph) problem({line, column, "a trigraph"});
  }

  void problem(LexicalProblem p) { result_.problems.push_back(p); }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < characters_.size() ? characters_[at_ + ahead].c : '\0';
  }

  void next() {
    const char c = peek();
    if (c == '\n') {
      line_start_ = true;
      ++at_;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      while (at_ < characters_.size() && peek() != '\n') ++at_;
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else if (starts_name(c)) {
      name();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      literal();
    } else {
      punctuation();
    }
  }

  void skip_block_comment() {
    at_ += 2;
    while (at_ < characters_.size() && !(peek() == '*' && peek(1) == '/')) ++at_;
    at_ += 2;
  }

  void add(Token::Kind kind, std::string text, const Character& place) {
    result_.tokens.push_back({kind, std::move(text), place.line, place.column, line_start_});
    line_start_ = false;
  }

  void name() {
    const Character place = characters_[at_];
    std::string text;
    while (at_ < characters_.size() && continues_name(peek())) text += characters_[at_++].c;
    const bool raw = text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
    if (raw && peek() == '"') return raw_string(std::move(text), place);
    add(Token::kName, std::move(text), place);
  }

  // From the opening quote to the closing one. In a raw string splices are none, and compilers do
  // not agree on where that begins.
  void raw_string(std::string text, const Character& place) {
    constexpr std::size_t kMostDelimiter = 16;
    std::string end = ")";
    for (std::size_t n = 1; n <= kMostDelimiter && continues_name(peek(n)); ++n) end += peek(n);
    end += '"';
    const bool opened = peek(end.size() - 1) == '(';
    bool closed = false, spliced = false;
    for (std::size_t n = 0; opened && !closed && at_ < characters_.size(); ++n) {
      spliced = spliced || characters_[at_].spliced;
      text += characters_[at_++].c;
      closed = n > end.size() && std::string_view(text).ends_with(end);
    }
    if (!closed) problem({place.line, place.column, "a raw string without its end"});
    if (spliced)
      problem({place.line, place.column, "a backslash before the end of a line in a raw string"});
    if (!opened) ++at_;
    add(Token::kText, std::move(text), place);
  }

  void number() {
    const Character place = characters_[at_];
    std::string text;
    while (at_ < characters_.size()) {
      const char c = peek(), before = text.empty() ? '\0' : text.back();
      const bool sign = (c == '+' || c == '-') &&
                        (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && continues_name(peek(1));
      if (!continues_name(c) && c != '.' && !sign && !separator) break;
      text += characters_[at_++].c;
    }
    add(Token::kNumber, std::move(text), place);
  }

  // To the closing quote; one that is missing takes the rest of the line, as in g++.
  void literal() {
    const Character place = characters_[at_];
    const char quote = peek();
    std::string text(1, quote);
    ++at_;
    while (at_ < characters_.size() && peek() != '\n') {
      const char c = characters_[at_++].c;
      text += c;
      if (c == quote) break;
      if (c == '\\' && at_ < characters_.size() && peek() != '\n') {
        text += characters_[at_++].c;
      }
    }
    add(Token::kText, std::move(text), place);
  }

  bool looking_at(std::string_view spelling) const {
    for (std::size_t i = 0; i < spelling.size(); ++i) {
      if (peek(i) != spelling[i]) return false;
    }
    return true;
  }

  void punctuation() {
    const Character place = characters_[at_];
    if (peek() == '\\') problem({place.line, place.column, "a backslash outside of a text"});
    for (const auto& [digraph, meaning] : kDigraphs) {
      if (!looking_at(digraph)) continue;
      // "<::" is "<" and "::", unless ":" or ">" follows.
      const bool scope = digraph == "<:" && peek(2) == ':' && peek(3) != ':' && peek(3) != '>';
      if (scope) break;
      at_ += digraph.size();
      return add(Token::kPunctuation, std::string(meaning), place);
    }
    const bool pasting = peek() == '#' && peek(1) == '#';
    const std::string text = pasting ? "##" : std::string(1, peek());
    at_ += text.size();
    add(Token::kPunctuation, text, place);
  }

  std::vector<Character> characters_;
  std::size_t at_ = 0;
  bool line_start_ = true;
  LexedSource result_;
};

}  // namespace

LexedSource lex(std::string_view source) { return Lexer(source).run(); }

}  // namespace krl
