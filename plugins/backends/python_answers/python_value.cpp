#include "plugins/backends/python_answers/python_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace krl::python {

Value unknown(std::string why) {
  return {Value::kUnknown, std::move(why), {}, {}, false, {}, {}, 0};
}
Value coded(Value::Kind kind, std::string code) {
  Value value;
  value.kind = kind;
  value.code = std::move(code);
  return value;
}
Value texted(Value::Kind kind, std::string text) {
  Value value;
  value.kind = kind;
  value.text = std::move(text);
  return value;
}
Value truth(bool is_true) {
  Value value = coded(Value::kBool, is_true ? "true" : "false");
  value.number = is_true;
  return value;
}
Value integer_of(std::string code) {
  Value value = coded(Value::kNumber, std::move(code));
  value.integer = true;
  return value;
}
Value number_of(double number, bool integer) {
  constexpr double kMost = 1e18;
  if (!std::isfinite(number) || (integer && std::abs(number) > kMost)) {
    return unknown("a number that is too large");
  }
  char text[32];
  const auto end = integer ? std::to_chars(text, std::end(text), static_cast<long long>(number))
                           : std::to_chars(text, std::end(text), number);
  Value value = coded(Value::kNumber, std::string(text, end.ptr));
  if (!integer && value.code.find_first_of(".en") == std::string::npos) value.code += ".0";
  value.number = number;
  value.integer = integer;
  return value;
}

Value number_in(const std::string& written) {
  constexpr std::size_t kMostDigits = 60;
  if (written.size() > kMostDigits) return unknown("a number of too many digits");
  std::string text = written;
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  const bool hex = text.size() > 2 && (text[1] == 'x' || text[1] == 'X');
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (*end != '\0') return unknown("'" + written + "' is no number that is understood");
  return number_of(number, hex || text.find_first_of(".eE") == std::string::npos);
}

std::size_t weight(const Value& value) {
  std::size_t bytes = sizeof(Value) + value.text.size() + value.code.size();
  for (const Value& item : value.items) bytes += weight(item);
  return bytes;
}

std::optional<bool> truth_of(const Value& value) {
  switch (value.kind) {
    case Value::kNumber:
    case Value::kBool:
      if (!value.number) return std::nullopt;
      return *value.number != 0;
    case Value::kNone:
      return false;
    case Value::kText:
      return !value.text.empty();
    case Value::kSequence:
      return !value.items.empty();
    default:
      return std::nullopt;
  }
}

Value arithmetic(const std::string& sign, const Value& a, const Value& b, const Expression& e) {
  if (a.kind == Value::kText && b.kind == Value::kText && sign == "+") {
    Value joined = a;
    joined.text += b.text;
    return joined;
  }
  const auto is_number = [](const Value& v) {
    return v.kind == Value::kNumber || v.kind == Value::kBool;
  };
  if (!is_number(a) || !is_number(b)) return unknown("PyTorch computes '" + text_of(e) + "'");
  const bool integer = a.integer && b.integer && sign != "/";
  if (a.number && b.number) {
    const double x = *a.number, y = *b.number;
    if (sign == "+") return number_of(x + y, integer);
    if (sign == "-") return number_of(x - y, integer);
    if (sign == "*") return number_of(x * y, integer);
    if (sign == "/" && y != 0) return number_of(x / y, false);
    if (sign == "//" && y != 0) return number_of(std::floor(x / y), integer);
    if (sign == "%" && y != 0) return number_of(x - y * std::floor(x / y), integer);
    if (sign == "**") return number_of(std::pow(x, y), integer && y >= 0);
    return unknown("'" + text_of(e) + "' is not understood");
  }
  if (sign == "**" || ((sign == "//" || sign == "%") && !integer)) {
    return unknown("'" + text_of(e) + "' is not understood");
  }
  if (sign == "//" || sign == "%") {
    const std::string rounds_down = sign == "//" ? "floor_div" : "floor_mod";
    return integer_of("kernelrl_host::" + rounds_down + "(" + a.code + ", " + b.code + ")");
  }
  const std::string left = sign == "/" ? "double(" + a.code + ")" : a.code;
  Value made = coded(Value::kNumber, "(" + left + " " + sign + " " + b.code + ")");
  made.integer = integer;
  return made;
}

Value comparison(const std::string& sign, const Value& a, const Value& b, const Expression& e) {
  if (a.kind == Value::kText && b.kind == Value::kText && (sign == "==" || sign == "!=")) {
    return truth((a.text == b.text) == (sign == "=="));
  }
  if (a.kind == Value::kDevice && b.kind == Value::kDevice) return truth(sign == "==");
  if (a.number && b.number) {
    const double x = *a.number, y = *b.number;
    if (sign == "==") return truth(x == y);
    if (sign == "!=") return truth(x != y);
    if (sign == "<") return truth(x < y);
    if (sign == ">") return truth(x > y);
    if (sign == "<=") return truth(x <= y);
    if (sign == ">=") return truth(x >= y);
  }
  return unknown("'" + text_of(e) + "' depends on more than the task");
}

Value is_instance(const Value& value, const Expression& type) {
  const auto is_of = [&](const Expression& one) {
    if (one.text == "int") return value.kind == Value::kNumber && value.integer;
    if (one.text == "float") return value.kind == Value::kNumber && !value.integer;
    if (one.text == "tuple" || one.text == "list") return value.kind == Value::kSequence;
    return one.text == "Tensor" && value.kind == Value::kTensor;
  };
  if (value.kind == Value::kUnknown) return value;
  if (type.kind != Expression::kSequence) return truth(is_of(type));
  return truth(std::any_of(type.parts.begin(), type.parts.end(), is_of));
}

}  // namespace krl::python
