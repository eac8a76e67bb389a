// Evaluates expressions; see expression.hpp, which includes this. Not for direct use.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/expression.hpp>
#include <kernelrl/spelling.hpp>

namespace krl {

// Number is std::int64_t or double.
template <class Number>
class ExpressionEvaluator {
 public:
  using Names = std::map<std::string, Number, std::less<>>;

  ExpressionEvaluator(const Expression& expression, const Names& names)
      : expression_(expression), names_(names) {}

  Checked<Number> evaluate(std::uint32_t index) const {
    const Node& node = expression_.nodes_[index];
    switch (node.kind) {
      case Kind::kInteger:
        return static_cast<Number>(node.integer);
      case Kind::kReal:
        if constexpr (kIntegers) {
          return error(node,
                       "expected an integer, found " + std::string(expression_.text_of(node)));
        }
        return static_cast<Number>(node.real);
      case Kind::kName:
        return look_up(node);
      case Kind::kDim3:
        return error(node, "expected one number, found dim3(…)");
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kChoose:
        return evaluate_branch(node);
      default:
        return evaluate_operator(node);
    }
  }

 private:
  using Kind = Expression::Kind;
  using Node = Expression::Node;
  static constexpr bool kIntegers = std::numeric_limits<Number>::is_integer;

  static TextError error(const Node& node, std::string message) {
    return {node.offset, std::move(message)};
  }

  Checked<Number> look_up(const Node& node) const {
    const std::string_view name = expression_.text_of(node);
    const auto found = names_.find(name);
    if (found != names_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& entry : names_) known.push_back(entry.first);
    return error(node, "unknown name '" + std::string(name) + "'" + did_you_mean(name, known));
  }

  // The nodes that do not evaluate all of their operands.
  Checked<Number> evaluate_branch(const Node& node) const {
    Checked<Number> first = evaluate(node.operands[0]);
    if (!first) return first;
    const bool truth = *first != 0;
    if (node.kind == Kind::kChoose) return evaluate(node.operands[truth ? 1 : 2]);
    if (truth == (node.kind == Kind::kOr)) return static_cast<Number>(truth);
    Checked<Number> second = evaluate(node.operands[1]);
    if (!second) return second;
    return static_cast<Number>(*second != 0);
  }

  Checked<Number> evaluate_operator(const Node& node) const {
    Checked<Number> first = evaluate(node.operands[0]);
    if (!first) return first;
    if (node.n_operands == 1) return apply_unary(node, *first);
    Checked<Number> second = evaluate(node.operands[1]);
    if (!second) return second;
    return apply_binary(node, *first, *second);
  }

  Checked<Number> apply_unary(const Node& node, Number a) const {
    switch (node.kind) {
      case Kind::kNot:
        return static_cast<Number>(a == 0);
      case Kind::kNegate:
        return arithmetic(node, Kind::kSubtract, 0, a);
      case Kind::kAbs:
        return a < 0 ? arithmetic(node, Kind::kSubtract, 0, a) : Checked<Number>(a);
      case Kind::kNextPow2:
        return next_power_of_two(node, a);
      default:
        return real_function(node, a, 0);
    }
  }

  Checked<Number> apply_binary(const Node& node, Number a, Number b) const {
    switch (node.kind) {
      case Kind::kLess:
        return static_cast<Number>(a < b);
      case Kind::kLessEqual:
        return static_cast<Number>(a <= b);
      case Kind::kGreater:
        return static_cast<Number>(a > b);
      case Kind::kGreaterEqual:
        return static_cast<Number>(a >= b);
      case Kind::kEqual:
        return static_cast<Number>(a == b);
      case Kind::kNotEqual:
        return static_cast<Number>(a != b);
      case Kind::kMin:
        return (std::min)(a, b);
      case Kind::kMax:
        return (std::max)(a, b);
      case Kind::kPow:
        return real_function(node, a, b);
      default:
        return arithmetic(node, node.kind, a, b);
    }
  }

  Checked<Number> arithmetic(const Node& node, Kind kind, Number a, Number b) const {
    const bool divides =
        kind == Kind::kDivide || kind == Kind::kRemainder || kind == Kind::kCeilDiv;
    if (divides && b == 0) return error(node, "division by zero");
    Number result = 0;
    if constexpr (kIntegers) {
      if (overflows(kind, a, b, &result)) return error(node, "integer overflow");
    } else {
      result = real_arithmetic(kind, a, b);
      if (!std::isfinite(result)) return error(node, "the result is not a finite number");
    }
    return result;
  }

  static bool overflows(Kind kind, std::int64_t a, std::int64_t b, std::int64_t* result) {
    if (kind == Kind::kAdd) return __builtin_add_overflow(a, b, result);
    if (kind == Kind::kSubtract) return __builtin_sub_overflow(a, b, result);
    if (kind == Kind::kMultiply) return __builtin_mul_overflow(a, b, result);
    if (a == (std::numeric_limits<std::int64_t>::min)() && b == -1) return true;
    *result = kind == Kind::kRemainder ? a % b : a / b;
    const bool rounds_up = kind == Kind::kCeilDiv && a % b != 0 && (a < 0) == (b < 0);
    if (rounds_up) ++*result;
    return false;
  }

  static double real_arithmetic(Kind kind, double a, double b) {
    if (kind == Kind::kAdd) return a + b;
    if (kind == Kind::kSubtract) return a - b;
    if (kind == Kind::kMultiply) return a * b;
    if (kind == Kind::kRemainder) return std::fmod(a, b);
    return kind == Kind::kCeilDiv ? std::ceil(a / b) : a / b;
  }

  // The smallest power of two that is not below `a`; 1 for everything up to 1.
  static Checked<Number> next_power_of_two(const Node& node, Number a) {
    constexpr auto kLargest = static_cast<Number>(std::int64_t{1} << 62);
    if (a > kLargest) return error(node, "next_pow2 of a number above 2^62");
    Number power = 1;
    while (power < a) power *= 2;
    return power;
  }

  static Checked<Number> real_function(const Node& node, Number a, Number b) {
    if constexpr (kIntegers) {
      static_cast<void>(a);
      static_cast<void>(b);
      return error(node, "exp, log, sqrt and pow are not for integers");
    } else {
      double result = std::pow(a, b);
      if (node.kind == Kind::kExp) result = std::exp(a);
      if (node.kind == Kind::kLog) result = std::log(a);
      if (node.kind == Kind::kSqrt) result = std::sqrt(a);
      if (!std::isfinite(result)) return error(node, "the result is not a finite number");
      return result;
    }
  }

  const Expression& expression_;
  const Names& names_;
};

inline Checked<std::int64_t> Expression::integer(const IntegerNames& names) const {
  return ExpressionEvaluator<std::int64_t>(*this, names).evaluate(root_);
}

inline Checked<double> Expression::real(const RealNames& names) const {
  return ExpressionEvaluator<double>(*this, names).evaluate(root_);
}

inline Checked<bool> Expression::condition(const RealNames& names) const {
  const Checked<double> value = real(names);
  if (!value) return value.error();
  return *value != 0;
}

inline Checked<Dim3> Expression::dim3(const IntegerNames& names) const {
  const Node& root = nodes_[root_];
  const ExpressionEvaluator<std::int64_t> evaluator(*this, names);
  Dim3 result = {1, 1, 1};
  const std::uint32_t parts = root.kind == Kind::kDim3 ? root.n_operands : 1;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const Checked<std::int64_t> part =
        evaluator.evaluate(root.kind == Kind::kDim3 ? root.operands[i] : root_);
    if (!part) return part.error();
    result[i] = *part;
  }
  return result;
}

inline std::vector<Expression::NameUse> Expression::names() const {
  std::vector<NameUse> uses;
  for (const Node& node : nodes_) {
    if (node.kind == Kind::kName) uses.push_back({std::string(text_of(node)), node.offset});
  }
  return uses;
}

}  // namespace krl
