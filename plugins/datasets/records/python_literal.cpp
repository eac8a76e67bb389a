#include "plugins/datasets/records/python_literal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

#include "plugins/python/syntax.hpp"

namespace krl::records {
namespace {

using nlohmann::json;
using python::Expression;

struct NoLiteral {};

template <class T>
std::optional<T> number_in(const std::string& text) {
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

json number_of(const Expression& number, int sign) {
  if (number.is(Expression::kName, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (number.is(Expression::kName, "inf")) return sign * std::numeric_limits<double>::infinity();
  if (number.kind != Expression::kNumber) throw NoLiteral();
  std::string digits = number.text;
  std::erase(digits, '_');
  if (const auto whole = number_in<std::int64_t>(digits)) return sign * *whole;
  if (const auto real = number_in<double>(digits)) return sign * *real;
  throw NoLiteral();
}

json value_of(const Expression& literal) {
  json all;
  switch (literal.kind) {
    case Expression::kString:
      return literal.text;
    case Expression::kConstant:
      return literal.text == "None" ? json() : json(literal.text == "True");
    case Expression::kUnary:
      if (literal.text == "not") throw NoLiteral();
      return number_of(literal.parts[0], literal.text == "-" ? -1 : 1);
    case Expression::kSequence:
      all = json::array();
      for (const Expression& part : literal.parts) all.push_back(value_of(part));
      return all;
    case Expression::kDictionary:
      all = json::object();
      for (std::size_t i = 0; i + 1 < literal.parts.size(); i += 2) {
        const json key = value_of(literal.parts[i]);
        all[key.is_string() ? key.get<std::string>() : key.dump()] = value_of(literal.parts[i + 1]);
      }
      return all;
    default:
      return number_of(literal, 1);
  }
}

}  // namespace

std::optional<json> read_python_literal(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  try {
    return value_of(python::read_python_expression(text));
  } catch (const NoLiteral&) {
    return std::nullopt;
  }
}

}  // namespace krl::records
