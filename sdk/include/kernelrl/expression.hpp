// Expressions: the small language of shapes ("cols / 2"), launch directives ("ceil_div(n, 256)"),
// scalars ("1.0 / sqrt(cols)") and conditions ("pass_rate > 0.95 and iteration >= 5").
//
// Operators, loosest first; binary ones group to the left, ?: to the right:
//   c ? a : b          evaluates only the side it chooses
//   or  ||             0 is false, everything else is true; the result is 0 or 1;
//   and &&             the right operand is evaluated only where the left does not decide
//   not                looser than a comparison: "not a < b" is "not (a < b)"
//   < <= > >= == !=    not chained: write "a < b and b < c"
//   + -
//   * / %              on integers as in C: division truncates
//   - + !              of one operand
// Functions:
//   min max            of 2 to 16 arguments
//   ceil_div(a, b)     a / b, rounded up
//   next_pow2(a)       the smallest power of two >= a, and at least 1
//   abs(a)
//   exp log sqrt pow   on reals only
// Operands:
//   12, 0.5, 1e-3      a decimal point or an exponent makes a real, an error on integers
//   cols, x.size       ASCII letters, digits and '_', not beginning with a digit; parts joined by '.'
//   dim3(a, b, c)      1 to 3 parts, as the whole text only: a grid or a block
// Overflow, division by zero and results that are not finite are errors.
//
// Parsed once, evaluated on integers (int64) or reals (double) as often as needed. Bad text is an
// error with its offset, never an exception; length and depth are limited, so that hostile text is
// safe on small stacks too. Header-only, C++17, no dependencies. An Expression is a value; const
// calls are safe from any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kernelrl/checked.hpp>

namespace krl {

using IntegerNames = std::map<std::string, std::int64_t, std::less<>>;
using RealNames = std::map<std::string, double, std::less<>>;
using Dim3 = std::array<std::int64_t, 3>;

// The characters that a name may contain. kMetrics adds '/' where it touches letters on both sides,
// so that `kernel/pass_rate > 0.9` reads a metric; to divide there, put blanks around it: `a / b`.
enum class NameStyle { kPlain, kMetrics };

class Expression {
 public:
  static constexpr std::size_t kMaxLength = 2000;  // bytes of text
  // Limit on nested parentheses, and on operators in a row.
  static constexpr std::uint32_t kMaxDepth = 64;

  // A name in the text and its 0-based offset.
  struct NameUse {
    std::string name;
    std::size_t offset = 0;
  };

  // The constant 0.
  Expression() : text_("0"), nodes_(1) {}

  static Checked<Expression> parse(std::string_view text, NameStyle style = NameStyle::kPlain);

  // The value on integers. `dim3(…)`, a real number and a function of reals are errors here.
  Checked<std::int64_t> integer(const IntegerNames& names) const;

  // The value on reals; finite if the values of the names are.
  Checked<double> real(const RealNames& names) const;

  // True if the value on reals is not 0.
  Checked<bool> condition(const RealNames& names) const;

  // The value as a grid or block: what `dim3(a, b, c)` lists, missing parts 1; another expression
  // is the first part.
  Checked<Dim3> dim3(const IntegerNames& names) const;

  // Every use of a name, in the order of the text.
  std::vector<NameUse> names() const;

  // True if the text is a single name, and nothing else.
  bool is_name() const { return nodes_[root_].kind == Kind::kName; }

  const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  template <class Number>
  friend class ExpressionEvaluator;

  enum class Kind : std::uint8_t {
    kInteger,
    kReal,
    kName,
    kNegate,
    kNot,
    kMultiply,
    kDivide,
    kRemainder,
    kAdd,
    kSubtract,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kEqual,
    kNotEqual,
    kAnd,
    kOr,
    kChoose,
    kMin,
    kMax,
    kCeilDiv,
    kNextPow2,
    kAbs,
    kExp,
    kLog,
    kSqrt,
    kPow,
    kDim3
  };

  struct Node {
    Kind kind = Kind::kInteger;
    std::uint32_t offset = 0;  // position of the operator or operand in the text
    std::uint32_t size = 0;    // length of the operand
    std::uint32_t depth = 1;   // 1 for a leaf
    std::array<std::uint32_t, 3> operands = {0, 0, 0};
    std::uint32_t n_operands = 0;
    std::int64_t integer = 0;
    double real = 0;
  };

  std::string_view text_of(const Node& node) const {
    return std::string_view(text_).substr(node.offset, node.size);
  }

  std::string text_;
  std::vector<Node> nodes_;
  std::uint32_t root_ = 0;
};

}  // namespace krl

#include <kernelrl/detail/expression_evaluator.hpp>
#include <kernelrl/detail/expression_parser.hpp>
