// The tokens of Python source. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl::python {

struct Token {
  enum Kind : std::uint8_t {
    kName,
    kNumber,
    kString,     // text: its value
    kFormat,     // text: that of an f-string, its braces as they are
    kOddString,  // one whose value is not known here: bytes, one that does not end
    kOperator,
    kNewline,  // the end of a logical line
    kIndent,
    kDedent,
    kEnd,
  } kind = kEnd;
  std::string text;
  std::uint32_t line = 1;

  bool is(std::string_view spelling) const {
    return (kind == kName || kind == kOperator) && text == spelling;
  }
};

// Ends with kEnd. Any bytes are accepted.
std::vector<Token> python_tokens(std::string_view source);

}  // namespace krl::python
