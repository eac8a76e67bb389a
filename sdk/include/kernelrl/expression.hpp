// Expressions: the one small language of shapes ("cols / 2"), launch directives ("ceil_div(n,
// 256)"), scalars
// ("1.0 / sqrt(cols)") and conditions ("pass_rate > 0.95 and iteration >= 5").
//
//   choice      condition ? a : b
//   or || · and && · not !          0 is false, everything else true; a result is 0 or 1; the right
//   side may be skipped < <= > >= == !=                 not chained: write "a < b and b < c"
//   + - · * / %                     on integers as in C (division truncates), with overflow and
//   division by zero as errors functions   min max ceil_div next_pow2 abs, on reals also exp log
//   sqrt pow names       letters, digits, '_', and dots between them ("x.size") dim3(a, b, c) for a
//   whole text only: a grid or a block
//
// Parsed once, evaluated on integers (int64) or on reals (double) as often as wanted. Bad text is
// an error with its offset, never an exception; length and depth are limited, so hostile text is
// safe on small stacks too. Header-only, C++17, no dependencies. An Expression is a value; const
// calls may run on many threads at once.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelrl/checked.hpp"
#include "kernelrl/spelling.hpp"

namespace krl {

using IntegerNames = std::map<std::string, std::int64_t, std::less<>>;
using RealNames = std::map<std::string, double, std::less<>>;
using Dim3 = std::array<std::int64_t, 3>;

// Which characters a name may hold. kMetrics adds '/' where it touches letters on both sides, so
// that `kernel/pass_rate > 0.9` reads a metric; to divide there, put blanks around it: `a / b`.
enum class NameStyle { kPlain, kMetrics };

class Expression {
 public:
  static constexpr std::size_t kMaxLength = 2000;  // bytes of text
  static constexpr std::uint32_t kMaxDepth = 64;   // of parentheses, and of operators in a row

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

  // The value on reals; always finite.
  Checked<double> real(const RealNames& names) const;

  // Whether the value on reals is not 0.
  Checked<bool> condition(const RealNames& names) const;

  // The value as a grid or block: what `dim3(a, b, c)` lists, missing parts 1; another expression
  // is the first part.
  Checked<Dim3> dim3(const IntegerNames& names) const;

  // Every use of a name, in the order of the text.
  std::vector<NameUse> names() const;

  // Whether the text is a single name, and nothing else.
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
    std::uint32_t offset = 0;  // of the operator or operand in the text
    std::uint32_t size = 0;    // of the operand
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

// ---- parsing
// ----------------------------------------------------------------------------------------------------------

// Precedence climbing. The first error is kept, and the rest of the text is skipped, so that no
// caller has to look.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, NameStyle style) : style_(style) {
    expression_.text_ = std::string(text.substr(0, Expression::kMaxLength + 1));
    expression_.nodes_.clear();
  }

  Checked<Expression> parse() {
    if (expression_.text_.size() > Expression::kMaxLength) {
      return TextError{
          Expression::kMaxLength,
          "an expression may be " + std::to_string(Expression::kMaxLength) + " bytes long at most"};
    }
    advance();
    expression_.root_ = token_.text == "dim3" ? parse_dim3() : parse_choice();
    if (token_.kind != Token::kEnd)
      fail(token_.offset, "expected an operator or the end, found '" + found() + "'");
    if (error_) return *error_;
    return std::move(expression_);
  }

 private:
  using Kind = Expression::Kind;
  using Node = Expression::Node;

  struct Token {
    enum Type { kNumber, kName, kSymbol, kEnd } kind = kEnd;
    std::string_view text;
    std::size_t offset = 0;
  };
  struct Operator {
    std::string_view text;
    Kind kind;
    int level;  // binds tighter when larger
  };
  struct Function {
    std::string_view name;
    Kind kind;
    std::size_t fewest, most;
  };
  static constexpr int kComparison = 3;
  static constexpr std::array<Operator, 15> kOperators = {{{"or", Kind::kOr, 1},
                                                           {"||", Kind::kOr, 1},
                                                           {"and", Kind::kAnd, 2},
                                                           {"&&", Kind::kAnd, 2},
                                                           {"<", Kind::kLess, kComparison},
                                                           {"<=", Kind::kLessEqual, kComparison},
                                                           {">", Kind::kGreater, kComparison},
                                                           {">=", Kind::kGreaterEqual, kComparison},
                                                           {"==", Kind::kEqual, kComparison},
                                                           {"!=", Kind::kNotEqual, kComparison},
                                                           {"+", Kind::kAdd, 4},
                                                           {"-", Kind::kSubtract, 4},
                                                           {"*", Kind::kMultiply, 5},
                                                           {"/", Kind::kDivide, 5},
                                                           {"%", Kind::kRemainder, 5}}};
  static constexpr std::size_t kMostArguments = 16;
  static constexpr std::array<Function, 9> kFunctions = {{{"min", Kind::kMin, 2, kMostArguments},
                                                          {"max", Kind::kMax, 2, kMostArguments},
                                                          {"ceil_div", Kind::kCeilDiv, 2, 2},
                                                          {"next_pow2", Kind::kNextPow2, 1, 1},
                                                          {"abs", Kind::kAbs, 1, 1},
                                                          {"exp", Kind::kExp, 1, 1},
                                                          {"log", Kind::kLog, 1, 1},
                                                          {"sqrt", Kind::kSqrt, 1, 1},
                                                          {"pow", Kind::kPow, 2, 2}}};

  std::string_view text() const { return expression_.text_; }
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char at(std::size_t i) const { return i < text().size() ? text()[i] : '\0'; }

  // What stands at the current token, for a message: printable and short.
  std::string found() const {
    if (token_.kind == Token::kEnd) return "the end";
    std::string shown(token_.text.substr(0, 32));
    for (char& c : shown) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    }
    return shown;
  }

  std::uint32_t fail(std::size_t offset, std::string message) {
    if (!error_) error_ = TextError{offset, std::move(message)};
    position_ = text().size();
    token_ = Token{Token::kEnd, {}, text().size()};
    return 0;
  }

  void advance() {
    while (at(position_) == ' ' || at(position_) == '\t' || at(position_) == '\n' ||
           at(position_) == '\r')
      ++position_;
    const std::size_t start = position_;
    token_ = Token{Token::kEnd, {}, start};
    if (start >= text().size()) return;
    if (is_letter(at(start))) {
      token_.kind = Token::kName;
      skip_name();
    } else if (is_digit(at(start)) || (at(start) == '.' && is_digit(at(start + 1)))) {
      token_.kind = Token::kNumber;
      skip_number();
    } else {
      token_.kind = Token::kSymbol;
      const std::string_view two = text().substr(start, 2);
      const bool long_symbol =
          two == "<=" || two == ">=" || two == "==" || two == "!=" || two == "&&" || two == "||";
      position_ += long_symbol ? 2 : 1;
    }
    token_.text = text().substr(start, position_ - start);
  }

  void skip_name() {
    for (;; ++position_) {
      const char c = at(position_);
      if (is_letter(c) || is_digit(c)) continue;
      const bool joins = c == '.' || (c == '/' && style_ == NameStyle::kMetrics);
      if (!joins || !is_letter(at(position_ + 1))) return;
    }
  }

  void skip_number() {
    while (is_digit(at(position_)) || at(position_) == '.') ++position_;
    if (at(position_) != 'e' && at(position_) != 'E') return;
    const bool signed_exponent = at(position_ + 1) == '+' || at(position_ + 1) == '-';
    if (!is_digit(at(position_ + (signed_exponent ? 2 : 1)))) return;
    position_ += signed_exponent ? 2 : 1;
    while (is_digit(at(position_))) ++position_;
  }

  bool accept(std::string_view symbol) {
    if (token_.kind == Token::kEnd || token_.text != symbol) return false;
    advance();
    return true;
  }

  void expect(std::string_view symbol) {
    if (!accept(symbol))
      fail(token_.offset, "expected '" + std::string(symbol) + "', found '" + found() + "'");
  }

  std::uint32_t add(Node node) {
    for (std::uint32_t i = 0; i < node.n_operands; ++i) {
      node.depth = std::max(node.depth, expression_.nodes_[node.operands[i]].depth + 1);
    }
    if (error_) return 0;
    if (node.depth > Expression::kMaxDepth) return too_deep(node.offset);
    expression_.nodes_.push_back(node);
    return static_cast<std::uint32_t>(expression_.nodes_.size() - 1);
  }

  std::uint32_t too_deep(std::size_t offset) {
    return fail(offset, "nested deeper than " + std::to_string(Expression::kMaxDepth) + " levels");
  }

  std::uint32_t add(Kind kind, std::size_t offset, std::initializer_list<std::uint32_t> operands) {
    Node node;
    node.kind = kind;
    node.offset = static_cast<std::uint32_t>(offset);
    for (const std::uint32_t operand : operands) node.operands[node.n_operands++] = operand;
    if (error_) return 0;  // an operand may not exist then
    return add(node);
  }

  std::uint32_t parse_choice() {
    if (++depth_ > Expression::kMaxDepth) return too_deep(token_.offset);
    std::uint32_t result = parse_binary(1);
    const std::size_t offset = token_.offset;
    if (accept("?")) {
      const std::uint32_t yes = parse_choice();
      expect(":");
      const std::uint32_t no = parse_choice();
      result = add(Kind::kChoose, offset, {result, yes, no});
    }
    --depth_;
    return result;
  }

  const Operator* current_operator() const {
    if (token_.kind != Token::kName && token_.kind != Token::kSymbol) return nullptr;
    const auto match = [this](const Operator& candidate) { return candidate.text == token_.text; };
    const auto found = std::find_if(kOperators.begin(), kOperators.end(), match);
    return found == kOperators.end() ? nullptr : &*found;
  }

  // Operators that bind at least as tightly as `level`; all of them group to the left.
  std::uint32_t parse_binary(int level) {
    std::uint32_t left = parse_unary();
    for (const Operator* op = current_operator(); op && op->level >= level;
         op = current_operator()) {
      const std::size_t offset = token_.offset;
      advance();
      const std::uint32_t right = parse_binary(op->level + 1);
      left = add(op->kind, offset, {left, right});
      const Operator* next = current_operator();
      if (op->level == kComparison && next && next->level == kComparison) {
        return fail(token_.offset, "comparisons cannot be chained: write 'a < b and b < c'");
      }
    }
    return left;
  }

  std::uint32_t parse_unary() {
    if (++depth_ > Expression::kMaxDepth) return too_deep(token_.offset);
    const std::size_t offset = token_.offset;
    std::uint32_t result = 0;
    if (accept("-")) {
      result = add(Kind::kNegate, offset, {parse_unary()});
    } else if (accept("+")) {
      result = parse_unary();
    } else if (accept("!")) {
      result = add(Kind::kNot, offset, {parse_unary()});
    } else if (accept("not")) {  // binds looser than a comparison, as in Python
      result = add(Kind::kNot, offset, {parse_binary(kComparison)});
    } else {
      result = parse_operand();
    }
    --depth_;
    return result;
  }

  std::uint32_t parse_operand() {
    const Token token = token_;
    if (accept("(")) {
      const std::uint32_t inner = parse_choice();
      expect(")");
      return inner;
    }
    if (token.kind == Token::kNumber) return parse_number();
    if (token.kind == Token::kName && !current_operator()) {
      advance();
      return token_.text == "(" ? parse_call(token) : add_leaf(Kind::kName, token);
    }
    return fail(token.offset, "expected a number, a name or '(', found '" + found() + "'");
  }

  std::uint32_t add_leaf(Kind kind, const Token& token, std::int64_t integer = 0, double real = 0) {
    Node node;
    node.kind = kind;
    node.offset = static_cast<std::uint32_t>(token.offset);
    node.size = static_cast<std::uint32_t>(token.text.size());
    node.integer = integer;
    node.real = real;
    return add(node);
  }

  std::uint32_t parse_number() {
    const Token token = token_;
    const char* const begin = token.text.data();
    const char* const end = begin + token.text.size();
    if (is_letter(at(position_))) return fail(position_, "a number cannot be followed by a letter");
    advance();
    if (token.text.find_first_of(".eE") == std::string_view::npos) {
      std::int64_t value = 0;
      const auto [rest, code] = std::from_chars(begin, end, value);
      if (code != std::errc() || rest != end) return fail(token.offset, "the integer is too large");
      return add_leaf(Kind::kInteger, token, value, static_cast<double>(value));
    }
    double value = 0;
    const auto [rest, code] = std::from_chars(begin, end, value);
    if (code != std::errc() || rest != end) return fail(token.offset, "not a number");
    return add_leaf(Kind::kReal, token, 0, value);
  }

  // The arguments of a call whose '(' is the current token.
  std::vector<std::uint32_t> parse_arguments() {
    std::vector<std::uint32_t> arguments;
    expect("(");
    do {
      arguments.push_back(parse_choice());
    } while (accept(",") && arguments.size() < kMostArguments);
    expect(")");
    return arguments;
  }

  std::uint32_t parse_call(const Token& name) {
    if (name.text == "dim3")
      return fail(name.offset, "dim3(…) can only be a whole grid or block, not a part of one");
    const auto match = [&](const Function& candidate) { return candidate.name == name.text; };
    const auto function = std::find_if(kFunctions.begin(), kFunctions.end(), match);
    if (function == kFunctions.end()) {
      std::vector<std::string> known;
      for (const Function& candidate : kFunctions) known.emplace_back(candidate.name);
      return fail(name.offset, "unknown function '" + std::string(name.text) + "'" +
                                   did_you_mean(name.text, known));
    }
    const std::vector<std::uint32_t> arguments = parse_arguments();
    if (error_) return 0;
    if (arguments.size() < function->fewest || arguments.size() > function->most) {
      return fail(name.offset, std::string(name.text) + " takes " +
                                   std::to_string(function->fewest) +
                                   (function->most > function->fewest ? " or more" : "") +
                                   " argument" + (function->fewest == 1 ? "" : "s") + ", not " +
                                   std::to_string(arguments.size()));
    }
    if (arguments.size() == 1) return add(function->kind, name.offset, {arguments[0]});
    std::uint32_t result = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i)
      result = add(function->kind, name.offset, {result, arguments[i]});
    return result;
  }

  std::uint32_t parse_dim3() {
    const std::size_t offset = token_.offset;
    advance();
    const std::vector<std::uint32_t> parts = parse_arguments();
    if (error_) return 0;
    if (parts.size() > 3)
      return fail(offset, "dim3 takes 1 to 3 numbers, not " + std::to_string(parts.size()));
    Node node;
    node.kind = Kind::kDim3;
    node.offset = static_cast<std::uint32_t>(offset);
    for (const std::uint32_t part : parts) node.operands[node.n_operands++] = part;
    return add(node);
  }

  NameStyle style_;
  Expression expression_;
  std::size_t position_ = 0;
  Token token_;
  std::uint32_t depth_ = 0;
  std::optional<TextError> error_;
};

inline Checked<Expression> Expression::parse(std::string_view text, NameStyle style) {
  return ExpressionParser(text, style).parse();
}

// ---- evaluation
// -------------------------------------------------------------------------------------------------------

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
        if constexpr (kIntegers)
          return error(node,
                       "expected an integer, found " + std::string(expression_.text_of(node)));
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
    const Checked<Number> first = evaluate(node.operands[0]);
    if (!first) return first;
    const bool truth = *first != 0;
    if (node.kind == Kind::kChoose) return evaluate(node.operands[truth ? 1 : 2]);
    if (truth == (node.kind == Kind::kOr)) return static_cast<Number>(truth);
    const Checked<Number> second = evaluate(node.operands[1]);
    if (!second) return second;
    return static_cast<Number>(*second != 0);
  }

  Checked<Number> evaluate_operator(const Node& node) const {
    const Checked<Number> first = evaluate(node.operands[0]);
    if (!first) return first;
    if (node.n_operands == 1) return apply_unary(node, *first);
    const Checked<Number> second = evaluate(node.operands[1]);
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
        return std::min(a, b);
      case Kind::kMax:
        return std::max(a, b);
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
    if (a == std::numeric_limits<std::int64_t>::min() && b == -1) return true;
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
