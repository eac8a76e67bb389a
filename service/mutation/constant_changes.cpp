// Numbers: sizes, masks, start values, an epsilon.
#include <charconv>
#include <cmath>
#include <optional>

#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

bool is_floating(std::string_view number) {
  if (number.starts_with("0x") || number.starts_with("0X")) return number.find('p') != number.npos;
  return number.find_first_of(".eE") != number.npos;
}

std::string without_suffix(std::string_view number, std::string_view suffixes) {
  std::string digits;
  for (const char c : number) {
    if (c != '\'') digits += c;
  }
  while (!digits.empty() && suffixes.find(digits.back()) != suffixes.npos) digits.pop_back();
  return digits;
}

std::optional<std::uint64_t> integer_of(std::string_view number) {
  const bool hexadecimal = number.starts_with("0x") || number.starts_with("0X");
  const std::string digits = without_suffix(hexadecimal ? number.substr(2) : number, "uUlL");
  std::uint64_t value = 0;
  const auto read =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return {};
  return value;
}

// Keeps the suffix that follows the digits.
std::string spelled(std::uint64_t value, std::string_view as) {
  const std::size_t suffix = as.find_first_of("uUlL");
  return std::to_string(value) + std::string(suffix == as.npos ? "" : as.substr(suffix));
}

void change_integer(const CodeToken& token, Changes& changes) {
  const auto value = integer_of(token.text);
  if (!value) return;
  const auto put = [&](std::string_view kind, std::uint64_t other) {
    changes.push_back({kind, token.offset, token.text.size(), spelled(other, token.text)});
  };
  put("constant_plus_one", *value + 1);
  if (*value > 0) put("constant_minus_one", *value - 1);
  if (*value > 1) put("constant_doubled", *value * 2);
  if (*value > 2) put("constant_halved", *value / 2);
  if (*value > 1) put("constant_zero", 0);
}

void put_around(std::string_view kind, const CodeToken& token, std::string text, Changes& changes) {
  changes.push_back({kind, token.offset, token.text.size(), std::move(text)});
}

// A number as small as one that keeps a divisor from 0, or a logarithm finite.
bool is_epsilon(double value) { return value > 0 && value < 1e-2; }

void change_floating(const CodeToken& token, Changes& changes) {
  const std::string digits = without_suffix(token.text, "fFlL");
  const double value = std::strtod(digits.c_str(), nullptr);
  const std::string_view kind = is_epsilon(value) ? "epsilon" : "constant";
  const bool epsilon = kind == "epsilon";
  if (value != 0) put_around(epsilon ? "epsilon_dropped" : "constant_zero", token, "0.0f", changes);
  for (const char* factor : {"2.0f", "100.0f", "0.01f", "0.99f", "-1.0f"}) {
    const bool scales_epsilon = factor[0] == '1' || std::string_view(factor) == "0.01f";
    if (value == 0 || scales_epsilon != epsilon) continue;
    put_around(epsilon ? "epsilon_scaled" : "constant_scaled", token,
               "(" + token.text + " * " + factor + ")", changes);
  }
  if (epsilon) return;
  put_around("constant_plus_one", token, "(" + token.text + " + 1.0f)", changes);
  if (value == 0) put_around("start_value", token, "-1e30f", changes);
  if (value == 0) put_around("start_value", token, "1e-3f", changes);
}

void change_extreme(const CodeToken& token, Changes& changes) {
  for (const char* other : {"0.0f", "1.0f", "10.0f", "1e4f"})
    put_around("start_value", token, other, changes);
}

void change_epsilon_name(const CodeToken& token, Changes& changes) {
  put_around("epsilon_dropped", token, "0.0f", changes);
  put_around("epsilon_scaled", token, "(" + token.text + " * 100.0f)", changes);
  put_around("epsilon_scaled", token, "(" + token.text + " * 0.01f)", changes);
}

// Not where it is declared.
bool is_used(const CodeText& code, std::size_t index) {
  return index > 0 && !is_type_name(code.at(index - 1).text);
}

}  // namespace

void collect_constants(const CodeText& code, Changes& changes) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    const CodeToken& token = code.at(i);
    if (token.kind == SourceToken::kNumber) {
      is_floating(token.text) ? change_floating(token, changes) : change_integer(token, changes);
    } else if (token.is_any({"INFINITY", "CUDART_INF_F", "FLT_MAX"})) {
      change_extreme(token, changes);
    } else if (token.is_any({"eps", "epsilon", "kEps", "kEpsilon"}) && is_used(code, i)) {
      change_epsilon_name(token, changes);
    }
  }
}

}  // namespace krl::service
