// Reads the text of a directive from left to right; see launch.hpp.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/launch.hpp>

namespace krl {

// A part of a directive, without blanks at either end, and its offset in it.
struct DirectivePiece {
  std::string_view text;
  std::size_t start = 0;
};

// The text of one directive after its keyword, read from left to right. The first error is kept.
class DirectiveReader {
 public:
  // `text` starts at `column` of `line`.
  DirectiveReader(std::string_view text, int line, int column)
      : text_(text), line_(line), column_(column) {}

  const std::optional<SourceError>& error() const { return error_; }
  std::size_t position() const { return position_; }
  int column() const { return column_ + static_cast<int>(position_); }

  void fail(std::string message) { fail_at(position_, std::move(message)); }
  void fail_at(std::size_t position, std::string message) {
    if (!error_)
      error_ = SourceError{line_, column_ + static_cast<int>(position), std::move(message)};
  }

  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t'))
      ++position_;
  }

  bool at(std::string_view text) const { return text_.substr(position_, text.size()) == text; }

  void expect(std::string_view text, std::string_view form) {
    skip_blanks();
    if (at(text)) {
      position_ += text.size();
    } else {
      fail("expected '" + std::string(text) + "': a directive is `" + std::string(form) + "`");
    }
  }

  void expect_end() {
    skip_blanks();
    if (at(";")) ++position_;
    skip_blanks();
    if (position_ < text_.size()) fail("nothing may follow the directive on its line");
  }

  std::string identifier(std::string_view what) {
    skip_blanks();
    const std::size_t start = position_;
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    const bool valid =
        position_ > start && std::isdigit(static_cast<unsigned char>(text_[start])) == 0;
    if (!valid) fail_at(start, "expected " + std::string(what));
    return std::string(text_.substr(start, position_ - start));
  }

  // Everything up to `stop`, which is left unread; without blanks at either end.
  std::string up_to(std::string_view stop) {
    skip_blanks();
    const std::size_t found = (std::min)(text_.find(stop, position_), text_.size());
    std::string_view piece = text_.substr(position_, found - position_);
    while (!piece.empty() && (piece.back() == ' ' || piece.back() == '\t')) piece.remove_suffix(1);
    position_ = found;
    return std::string(piece);
  }

  // Comma-separated expressions up to `close`, which is consumed.
  std::vector<PlacedExpression> expressions(std::string_view close) {
    std::vector<PlacedExpression> list;
    each(close, [&](const DirectivePiece& piece) { list.push_back(expression(piece)); });
    return list;
  }

  // Calls `take` with each of the comma-separated pieces up to `close`, which is consumed.
  template <class Take>
  void each(std::string_view close, Take take) {
    skip_blanks();
    while (!error_ && !at(close)) {
      take(next_piece(close));
      if (at(",")) {
        ++position_;
        if (skip_blanks(); at(close)) fail("expected another expression after ','");
      } else if (!at(close)) {
        fail("expected ',' or '" + std::string(close) + "'");
      }
    }
    position_ += error_ ? 0 : close.size();
  }

  PlacedExpression expression(const DirectivePiece& piece) {
    PlacedExpression placed{{}, line_, column_ + static_cast<int>(piece.start)};
    Checked<Expression> parsed = Expression::parse(piece.text);
    if (parsed) {
      placed.expression = *std::move(parsed);
    } else {
      fail_at(piece.start + parsed.error().offset, parsed.error().message);
    }
    return placed;
  }

  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

 private:
  // The text up to a comma or `close` outside of brackets and quotes.
  DirectivePiece next_piece(std::string_view close) {
    skip_blanks();
    const std::size_t start = position_;
    int depth = 0;
    char quote = '\0';
    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (quote == '\0' && depth == 0 && (at(",") || at(close))) break;
      if (c == quote || (quote == '\0' && (c == '"' || c == '\'')))
        quote = quote == '\0' ? c : '\0';
      if (quote != '\0') continue;
      depth += at("(") ? 1 : at(")") ? -1 : 0;
    }
    std::string_view piece = text_.substr(start, position_ - start);
    while (!piece.empty() && (piece.back() == ' ' || piece.back() == '\t')) piece.remove_suffix(1);
    return {piece, start};
  }

  std::string_view text_;
  int line_, column_;
  std::size_t position_ = 0;
  std::optional<SourceError> error_;
};

}  // namespace krl
