// PTX text token by token, with one token of lookahead. Comments and blanks are left out. A text
// that is not PTX ends in a thrown ReadProblem, which read_module catches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/backends/ptx/reader.hpp"

namespace krl::ptx {

struct Token {
  enum Kind : std::uint8_t {
    kEnd,
    kWord,       // an identifier: "mov", "%r1", "$L__BB0_2", "_"
    kDirective,  // includes its dot: ".reg", ".shared::cta", ".x"
    kNumber,     // spelled as in the text: "0x1FU", "0f3F800000", "9.0"
    kText,       // the text between quotes
    kSign,       // "{", "<<"
  };
  Kind kind = kEnd;
  std::string_view text;
  std::uint32_t line = 1;

  bool is(std::string_view other) const { return text == other && kind != kText; }
};

class Tokens {
 public:
  explicit Tokens(std::string_view text);

  const Token& next() const { return next_; }
  Token take();
  // Takes the next token if it is this word, directive or sign.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  // `what` is for the message: "the name of a variable".
  Token expect(Token::Kind kind, std::string_view what);

  // Reports an error at the next token.
  [[noreturn]] void malformed(std::string message) const;
  [[noreturn]] void unsupported(std::string what) const;
  [[noreturn]] void too_large(std::string_view what) const;
  [[noreturn]] void unexpected(std::string_view expected) const;

 private:
  void advance();
  void skip_blanks();
  void skip_comment();
  void read_directive();
  void read_number();
  void read_text();
  void read_sign();
  void keep(Token::Kind kind, std::size_t length);

  std::string_view rest_;
  std::uint32_t line_ = 1;
  Token next_;
};

[[noreturn]] void fail(ReadProblem::Kind kind, std::string message, std::uint32_t line);

// A name or another piece of the text for a message: never long.
std::string quoted(std::string_view text);

}  // namespace krl::ptx
