#include "plugins/python/syntax.hpp"

namespace krl::python {
namespace {

constexpr std::size_t kLongestText = 200;  // characters of an expression in a message

// Writes an expression as Python code. Stops soon after kLongestText.
class Writer {
 public:
  void write(const Expression& e) {
    if (is_full()) return;
    switch (e.kind) {
      case Expression::kOther:
        return put("…");
      case Expression::kName:
      case Expression::kNumber:
      case Expression::kConstant:
        return put(e.text);
      case Expression::kString:
        return put("'"), put(e.text), put("'");
      case Expression::kFormat:
        return put("f'…'");
      case Expression::kDictionary:
        return put("{…}");
      case Expression::kSequence:
        return put("("), list(e, 0), put(e.parts.size() == 1 ? ",)" : ")");
      case Expression::kAttribute:
        return write(e.parts[0]), put("."), put(e.text);
      case Expression::kCall:
        return write(e.parts[0]), put("("), list(e, 1), put(")");
      case Expression::kSubscript:
        return write(e.parts[0]), put("["), write(e.parts[1]), put("]");
      case Expression::kUnary:
        return put(e.text), put(e.text == "not" ? " " : ""), write(e.parts[0]);
      case Expression::kBinary:
        return write(e.parts[0]), put(" " + e.text + " "), write(e.parts[1]);
      case Expression::kConditional:
        write(e.parts[1]), put(" if "), write(e.parts[0]);
        return put(" else "), write(e.parts[2]);
    }
  }

  std::string text() {
    if (!is_full()) return text_;
    std::size_t end = kLongestText;
    while ((text_[end] & 0xC0) == 0x80) --end;  // not within a character
    return text_.substr(0, end) + "…";
  }

 private:
  bool is_full() const { return text_.size() > kLongestText; }
  void put(std::string_view piece) { text_ += piece.substr(0, kLongestText + 1); }
  void list(const Expression& e, std::size_t first) {
    for (std::size_t i = first; i < e.parts.size() && !is_full(); ++i) {
      if (i > first) put(", ");
      if (i - first < e.names.size() && !e.names[i - first].empty())
        put(e.names[i - first]), put(e.names[i - first] == "*" ? "" : "=");
      write(e.parts[i]);
    }
  }

  std::string text_;
};

}  // namespace

std::string text_of(const Expression& expression) {
  Writer writer;
  writer.write(expression);
  return writer.text();
}

}  // namespace krl::python
