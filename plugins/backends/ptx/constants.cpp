#include "plugins/backends/ptx/constants.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <string>

namespace krl::ptx {
namespace {

std::optional<std::uint64_t> digits_of(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<Constant> bits_of(std::string_view digits, std::size_t length, Constant::Kind kind) {
  const auto bits = digits_of(digits, 16);
  if (!bits || digits.size() != length) return std::nullopt;
  return Constant{kind, *bits};
}

std::optional<Constant> decimal_fraction(std::string_view token) {
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return Constant{Constant::kFloat64, std::bit_cast<std::uint64_t>(value)};
}

std::optional<Constant> integer_of(std::string_view token) {
  const bool is_unsigned = token.back() == 'U';
  if (is_unsigned) token.remove_suffix(1);
  int base = 10;
  if (token.size() > 1 && token[0] == '0') {
    base = token[1] == 'x' || token[1] == 'X' ? 16 : token[1] == 'b' || token[1] == 'B' ? 2 : 8;
    token.remove_prefix(base == 8 ? 1 : 2);
  }
  const auto value = digits_of(token, base);
  if (!value) return std::nullopt;
  return Constant{is_unsigned || *value >> 63 != 0 ? Constant::kUnsigned : Constant::kSigned,
                  *value};
}

// Returns the precedence of a binary operator, from 1; 0 if it is none.
int strength(std::string_view sign) {
  struct Operator {
    std::string_view sign;
    int strength;
  };
  static constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4}, {"&", 5},
                                            {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7},
                                            {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},
                                            {"*", 10}, {"/", 10}, {"%", 10}};
  const auto found =
      std::find_if(std::begin(kOperators), std::end(kOperators),
                   [&](const Operator& candidate) { return candidate.sign == sign; });
  return found == std::end(kOperators) ? 0 : found->strength;
}

Constant read_number(Tokens& tokens) {
  if (tokens.next().kind != Token::kNumber) tokens.unexpected("a number");
  const auto value = number_of(tokens.next().text);
  if (!value) {
    tokens.malformed(quoted(tokens.next().text) + " is not a number of PTX, or too large");
  }
  tokens.take();
  return *value;
}

std::uint64_t checked(const Tokens& tokens, const Constant& value, std::uint64_t most,
                      std::string_view what) {
  const bool negative = value.kind == Constant::kSigned && value.bits >> 63 != 0;
  if (!value.integer() || negative || value.bits > most) {
    tokens.malformed(std::string(what) + " is not a number from 0 to " + std::to_string(most));
  }
  return value.bits;
}

class Expression {
 public:
  explicit Expression(Tokens& tokens) : tokens_(tokens) {}

  Constant conditional() {
    const Constant value = binary(1);
    if (!tokens_.next().is("?")) return value;
    require_integer(value);
    tokens_.expect("?");
    const Nested nested(*this);
    const Constant then = conditional();
    tokens_.expect(":");
    const Constant otherwise = conditional();
    return value.bits != 0 ? then : otherwise;
  }

 private:
  // Expressions inside expressions, so that a text cannot use up the stack.
  class Nested {
   public:
    explicit Nested(Expression& expression) : expression_(expression) {
      constexpr int kDeepest = 64;
      if (++expression_.depth_ > kDeepest) {
        expression_.tokens_.too_large("a constant expression in itself");
      }
    }
    ~Nested() { --expression_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Expression& expression_;
  };

  // Parses operators of at least this precedence; recursion is as deep as there are precedences.
  Constant binary(int weakest) {
    Constant left = unary();
    while (true) {
      const int found = tokens_.next().kind == Token::kSign ? strength(tokens_.next().text) : 0;
      if (found == 0 || found < weakest) return left;
      const std::string_view sign = tokens_.take().text;
      const Constant right = binary(found + 1);
      require_integer(left);
      require_integer(right);
      left = applied(sign, left, right);
    }
  }

  Constant unary() {
    const Nested nested(*this);
    if (tokens_.accept("+")) return unary();
    if (tokens_.accept("-")) return negated(unary());
    if (tokens_.accept("~")) {
      const Constant value = unary();
      require_integer(value);
      return {value.kind, ~value.bits};
    }
    if (tokens_.accept("!")) {
      const Constant value = unary();
      require_integer(value);
      return {Constant::kSigned, value.bits == 0};
    }
    if (tokens_.accept("(")) return parenthesised();
    return plain();
  }

  Constant parenthesised() {
    if (tokens_.next().is(".s64") || tokens_.next().is(".u64")) {
      const bool is_unsigned = tokens_.take().is(".u64");
      tokens_.expect(")");
      const Constant value = unary();
      require_integer(value);
      return {is_unsigned ? Constant::kUnsigned : Constant::kSigned, value.bits};
    }
    const Constant value = conditional();
    tokens_.expect(")");
    return value;
  }

  Constant plain() {
    constexpr std::uint64_t kWarpSize = 32;
    if (tokens_.accept("WARP_SZ")) return {Constant::kSigned, kWarpSize};
    return read_number(tokens_);
  }

  Constant negated(Constant value) const {
    switch (value.kind) {
      case Constant::kFloat32:
        return {value.kind, value.bits ^ (1ull << 31)};
      case Constant::kFloat64:
        return {value.kind, value.bits ^ (1ull << 63)};
      default:
        return {value.kind, 0 - value.bits};
    }
  }

  void require_integer(const Constant& value) const {
    if (!value.integer()) tokens_.malformed("a constant expression is made of integers");
  }

  Constant applied(std::string_view sign, const Constant& left, const Constant& right) const {
    const bool is_unsigned = left.kind == Constant::kUnsigned || right.kind == Constant::kUnsigned;
    const Constant::Kind kind = is_unsigned ? Constant::kUnsigned : Constant::kSigned;
    const std::uint64_t a = left.bits, b = right.bits;
    if (sign == "+") return {kind, a + b};
    if (sign == "-") return {kind, a - b};
    if (sign == "*") return {kind, a * b};
    if (sign == "&") return {kind, a & b};
    if (sign == "|") return {kind, a | b};
    if (sign == "^") return {kind, a ^ b};
    if (sign == "/" || sign == "%") return {kind, divided(sign == "%", is_unsigned, a, b)};
    if (sign == "<<" || sign == ">>") return shifted(sign == ">>", left, b);
    return {Constant::kSigned, compared(sign, is_unsigned, a, b)};
  }

  std::uint64_t divided(bool remainder, bool is_unsigned, std::uint64_t a, std::uint64_t b) const {
    if (b == 0) tokens_.malformed("a constant expression divides by zero");
    if (remainder) return a % b;  // ptxas takes both as unsigned
    if (is_unsigned) return a / b;
    if (b == ~std::uint64_t{0}) return 0 - a;  // the least number has no negative
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(x / y);
  }

  static Constant shifted(bool right, const Constant& value, std::uint64_t by) {
    const bool keeps_sign = value.kind == Constant::kSigned;
    const auto number = static_cast<std::int64_t>(value.bits);
    by %= 64;  // as ptxas does
    if (!right) return {value.kind, value.bits << by};
    if (keeps_sign) return {value.kind, static_cast<std::uint64_t>(number >> by)};
    return {value.kind, value.bits >> by};
  }

  static bool compared(std::string_view sign, bool is_unsigned, std::uint64_t a, std::uint64_t b) {
    const bool less =
        is_unsigned ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    if (sign == "<") return less;
    if (sign == "<=") return less || a == b;
    if (sign == ">") return !less && a != b;
    if (sign == ">=") return !less;
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    if (sign == "&&") return a != 0 && b != 0;
    return a != 0 || b != 0;  // "||"
  }

  Tokens& tokens_;
  int depth_ = 0;
};

}  // namespace

std::optional<Constant> number_of(std::string_view token) {
  if (token.size() > 1 && token[0] == '0') {
    const std::string_view digits = token.substr(2);
    if (token[1] == 'f' || token[1] == 'F') return bits_of(digits, 8, Constant::kFloat32);
    if (token[1] == 'd' || token[1] == 'D') return bits_of(digits, 16, Constant::kFloat64);
    if (token[1] == 'x' || token[1] == 'X') return integer_of(token);
  }
  if (token.find_first_of(".eE") != std::string_view::npos) return decimal_fraction(token);
  return integer_of(token);
}

Constant read_constant(Tokens& tokens) { return Expression(tokens).conditional(); }

std::uint64_t read_size(Tokens& tokens, std::uint64_t most, std::string_view what) {
  return checked(tokens, read_constant(tokens), most, what);
}

std::uint64_t read_count(Tokens& tokens, std::uint64_t most, std::string_view what) {
  return checked(tokens, read_number(tokens), most, what);
}

}  // namespace krl::ptx
