// The tokens and comments of a source; see cuda_source.hpp, which includes this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/cuda_source.hpp>

namespace krl {

// Reads preprocessing tokens the way NVRTC and g++ do: splices first, then comments and tokens.
// Text that the two read differently is a problem.
class CudaScanner {
 public:
  explicit CudaScanner(std::string_view source) { splice(source); }

  ScannedSource scan() {
    while (at_ < characters_.size()) next();
    return std::move(result_);
  }

 private:
  // A character of the spliced text, and its place in the source.
  struct Character {
    char c;
    bool follows_splice;
    bool splices_to_some;  // a backslash before blanks and the end of the line
    std::uint32_t line, column;
  };

  static bool starts_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
  }
  static bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool continues_name(char c) { return starts_name(c) || is_digit(c); }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

  // Removes "backslash, end of line" and carriage returns. g++ also joins lines where blanks follow
  // the backslash; NVRTC does not.
  void splice(std::string_view source) {
    characters_.reserve(source.size());
    std::uint32_t line = 1, column = 1;
    for (std::size_t i = 0; i < source.size(); ++i) {
      const char c = source[i];
      check_character(source, i, line, column);
      std::size_t end = i + 1;
      while (c == '\\' && end < source.size() && (is_blank(source[end]) || source[end] == '\r'))
        ++end;
      const bool joins = c == '\\' && end < source.size() && source[end] == '\n';
      const bool blanks = end != i + 1 && source.substr(i + 1, end - i - 1) != "\r";
      if (joins && !blanks) {
        i = end;
        ++line;
        column = 1;
        ends_in_splice_ = true;
        continue;
      }
      if (c != '\r')
        characters_.push_back({c, std::exchange(ends_in_splice_, false), joins, line, column});
      ++column;
      if (c == '\n') ++line, column = 1;
    }
  }

  void check_character(std::string_view source, std::size_t i, std::uint32_t line,
                       std::uint32_t column) {
    constexpr std::string_view kTrigraphEnds = "=/'()!<>-";
    const char c = source[i];
    const auto code = static_cast<unsigned char>(c);
    const bool line_end = c == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
    if ((code < 0x20 && c != '\n' && !is_blank(c) && !line_end) || code == 0x7f)
      problem(line, column, "a control character");
    // Not valid in UTF-8, and the end of the source to NVRTC.
    if (code == 0xff) problem(line, column, "the byte 0xff");
    const bool trigraph = c == '?' && i + 2 < source.size() && source[i + 1] == '?' &&
                          kTrigraphEnds.find(source[i + 2]) != std::string_view::npos;
    if (trigraph) problem(line, column, "a trigraph");
  }

  void problem(std::uint32_t line, std::uint32_t column, const char* message) {
    result_.problems.push_back({line, column, message});
  }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < characters_.size() ? characters_[at_ + ahead].c : '\0';
  }

  void next() {
    const char c = peek();
    if (c == '\n') {
      starts_line_ = only_blanks_ = true;
      ++at_;
    } else if (is_blank(c)) {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      line_comment();
    } else if (c == '/' && peek(1) == '*') {
      block_comment();
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

  void line_comment() {
    LineComment comment;
    const Character slash = characters_[at_ + 1];
    comment.line = static_cast<int>(slash.line);
    comment.column = static_cast<int>(slash.column) + 1;
    comment.starts_line = only_blanks_;
    for (at_ += 2; at_ < characters_.size(); ++at_) {
      comment.spliced = comment.spliced || characters_[at_].follows_splice;
      if (peek() == '\n') break;
      if (characters_[at_].splices_to_some && !comment_or_nothing_on_next_line()) odd_splice();
      comment.text += peek();
    }
    comment.spliced = comment.spliced || (at_ == characters_.size() && ends_in_splice_);
    result_.comments.push_back(std::move(comment));
  }

  void block_comment() {
    at_ += 2;
    for (; at_ < characters_.size() && !(peek() == '*' && peek(1) == '/'); ++at_) {
      after_lines_of_comment_ = after_lines_of_comment_ || peek() == '\n';
      if (!characters_[at_].splices_to_some) continue;
      const char following = characters_[next_line()].c;
      if (following == '/' || following == '\\') odd_splice();  // perhaps the comment's end
    }
    at_ += 2;
    only_blanks_ = false;
  }

  void odd_splice() {
    problem(characters_[at_].line, characters_[at_].column,
            "a blank between a backslash and the end of the line");
  }

  // Index of the first character of the next line, or of the last one of the text.
  std::size_t next_line() const {
    std::size_t i = at_;
    while (characters_[i].c != '\n') ++i;
    return (std::min)(i + 1, characters_.size() - 1);
  }

  // True if the next line means the same whether or not it belongs to this line's comment.
  bool comment_or_nothing_on_next_line() const {
    std::size_t i = next_line();
    while (i < characters_.size() && is_blank(characters_[i].c)) ++i;
    if (i == characters_.size() || characters_[i].c == '\n') return true;
    return i + 1 < characters_.size() && characters_[i].c == '/' && characters_[i + 1].c == '/';
  }

  void add(SourceToken::Kind kind, std::string text, const Character& place) {
    result_.tokens.push_back({kind, std::move(text), place.line, place.column, starts_line_});
    starts_line_ = only_blanks_ = after_lines_of_comment_ = false;
  }

  void name() {
    const Character place = characters_[at_];
    std::string text;
    while (at_ < characters_.size() && continues_name(peek())) text += characters_[at_++].c;
    const bool raw = text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
    if (raw && peek() == '"') return raw_string(std::move(text), place);
    if (!result_.tokens.empty() && result_.tokens.back().is("#")) count_groups(text);
    add(SourceToken::kIdentifier, std::move(text), place);
  }

  void count_groups(std::string_view directive) {
    if (!result_.tokens.back().starts_line) return;
    if (directive.substr(0, 2) == "if") ++open_groups_;
    if (directive == "endif") --open_groups_;
  }

  // Reads from the opening quote to the closing one. Raw strings have no splices, and compilers do
  // not agree on where that begins.
  void raw_string(std::string text, const Character& place) {
    constexpr std::size_t kMostDelimiter = 16;
    std::string end = ")";
    for (std::size_t n = 1; n <= kMostDelimiter && continues_name(peek(n)); ++n) end += peek(n);
    end += '"';
    const bool opened = peek(end.size() - 1) == '(';
    bool closed = false, spliced = false;
    for (std::size_t n = 0; opened && !closed && at_ < characters_.size(); ++n) {
      spliced = spliced || characters_[at_].follows_splice || characters_[at_].splices_to_some;
      text += characters_[at_++].c;
      closed = n > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
    }
    if (!closed) problem(place.line, place.column, "a raw string without its end");
    if (spliced)
      problem(place.line, place.column, "a backslash before the end of a line in a raw string");
    if (!opened) ++at_;
    add(SourceToken::kLiteral, std::move(text), place);
  }

  void number() {
    const Character place = characters_[at_];
    std::string text;
    while (at_ < characters_.size()) {
      const char c = peek(), before = text.empty() ? '\0' : text.back();
      const bool sign = (c == '+' || c == '-') &&
                        (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && continues_name(peek(1)) && is_ascii(peek(1));
      if (!continues_name(c) && c != '.' && !sign && !separator) break;
      text += characters_[at_++].c;
    }
    if (peek() == '\'') problem(place.line, place.column, "a quote directly after a number");
    // In a group that #if skips, NVRTC takes a single separator for the quote of a character.
    const bool single = std::count(text.begin(), text.end(), '\'') % 2 != 0;
    if (single && open_groups_ > 0 && opens_more_on_this_line())
      problem(place.line, place.column, "a digit separator before a comment or text within #if");
    add(SourceToken::kNumber, std::move(text), place);
  }

  bool opens_more_on_this_line() const {
    for (std::size_t i = at_; i < characters_.size() && characters_[i].c != '\n'; ++i) {
      const bool comment = characters_[i].c == '*' && characters_[i - 1].c == '/';
      if (comment || characters_[i].c == '"') return true;
    }
    return false;
  }

  // Reads to the closing quote; without one, to the end of the line, as in g++.
  void literal() {
    const Character place = characters_[at_];
    const char quote = peek();
    std::string text(1, quote);
    ++at_;
    while (at_ < characters_.size() && peek() != '\n') {
      const char c = take_literal_character();
      text += c;
      if (c == quote) break;
      if (c == '\\' && at_ < characters_.size() && peek() != '\n') text += take_literal_character();
    }
    add(SourceToken::kLiteral, std::move(text), place);
  }

  char take_literal_character() {
    if (characters_[at_].splices_to_some) odd_splice();
    return characters_[at_++].c;
  }

  bool looking_at(std::string_view spelling) const {
    for (std::size_t i = 0; i < spelling.size(); ++i) {
      if (peek(i) != spelling[i]) return false;
    }
    return true;
  }

  void punctuation() {
    constexpr std::pair<std::string_view, const char*> kDigraphs[] = {
        {"%:%:", "##"}, {"<%", "{"}, {"%>", "}"}, {"<:", "["}, {":>", "]"}, {"%:", "#"}};
    const Character place = characters_[at_];
    if (peek() == '\\') problem(place.line, place.column, "a backslash outside of a text");
    // NVRTC takes it for the first token of its line.
    if (after_lines_of_comment_ && !starts_line_ && (peek() == '#' || looking_at("%:")))
      problem(place.line, place.column, "a '#' after a comment of several lines");
    for (const auto& [digraph, meaning] : kDigraphs) {
      if (!looking_at(digraph)) continue;
      // "<::" is "<" and "::", unless ":" or ">" follows.
      const bool scope = digraph == "<:" && peek(2) == ':' && peek(3) != ':' && peek(3) != '>';
      if (scope) break;
      at_ += digraph.size();
      return add(SourceToken::kPunctuation, meaning, place);
    }
    const bool pasting = peek() == '#' && peek(1) == '#';
    const std::string text = pasting ? "##" : std::string(1, peek());
    at_ += text.size();
    add(SourceToken::kPunctuation, text, place);
  }

  std::vector<Character> characters_;
  bool ends_in_splice_ = false;
  std::size_t at_ = 0;
  bool starts_line_ = true;  // no token yet on this logical line
  bool only_blanks_ = true;  // nor a comment
  // Set after a comment with newlines that began after a token of this logical line.
  bool after_lines_of_comment_ = false;
  int open_groups_ = 0;  // #if without its #endif so far
  ScannedSource result_;
};

inline ScannedSource scan_cuda_source(std::string_view source) {
  return CudaScanner(source).scan();
}

}  // namespace krl
