// Types with too few bits.
#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

// `int` or `unsigned` alone, not one half of a longer name of a type.
bool is_whole_integer(const CodeText& code, std::size_t index) {
  if (!code.at(index).is_any({"int", "unsigned"})) return false;
  const auto is_part = [](const CodeToken& token) {
    return token.is_any({"long", "short", "unsigned", "signed", "char", "int"});
  };
  if (code.at(index).is("int") && index > 0 && is_part(code.at(index - 1))) return false;
  const CodeToken& next = code.at(index + 1);
  return !next.is_any({"long", "short", "char"});
}

// `int name =` or `(int)`, not in a list of parameters, whose types launches check.
bool holds_value(const CodeText& code, std::size_t index) {
  const CodeToken &next = code.at(index + 1), &after = code.at(index + 2);
  if (next.is_name()) return after.is_any({"=", ";", "["});
  return next.is_any({")", ">"});
}

void narrow_integer(const CodeText& code, std::size_t index, Changes& changes) {
  const CodeToken& token = code.at(index);
  if (is_whole_integer(code, index) && holds_value(code, index)) {
    const std::string sign = token.is("unsigned") ? "unsigned " : "";
    changes.push_back({"integer_to_16_bits", token.offset, token.text.size(), sign + "short"});
    changes.push_back({"integer_to_8_bits", token.offset, token.text.size(), sign + "char"});
    if (code.at(index + 2).is("="))
      changes.push_back({"counter_in_float", token.offset, token.text.size(), "float"});
  }
  if (token.is_any({"size_t", "int64_t", "uint64_t", "ptrdiff_t"}))
    changes.push_back({"integer_to_32_bits", token.offset, token.text.size(), "int"});
  if (token.is("long") && code.at(index + 1).is("long"))
    changes.push_back(
        {"integer_to_32_bits", token.offset, code.at(index + 1).end() - token.offset, "int"});
}

// `float name = value;` with the value cut to the digits of a half.
void round_value(const CodeText& code, std::size_t index, Changes& changes) {
  const CodeToken& token = code.at(index);
  if (token.is("double"))
    changes.push_back({"double_to_float", token.offset, token.text.size(), "float"});
  const bool declared =
      token.is("float") && code.at(index + 1).is_name() && code.at(index + 2).is("=");
  if (!declared) return;
  const std::size_t first = index + 3, end = code.find_outside(first, {";", ","});
  if (end == CodeText::kNone || end == first) return;
  const std::string value(code.text_of(first, end - 1));
  if (value.front() == '{') return;
  changes.push_back({"float_to_10_bits", code.at(first).offset, value.size(),
                     "__uint_as_float(__float_as_uint(" + value + ") & 0xffffe000u)"});
}

}  // namespace

void collect_types(const CodeText& code, Changes& changes) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    narrow_integer(code, i, changes);
    round_value(code, i, changes);
  }
}

}  // namespace krl::service
