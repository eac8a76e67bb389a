// Parses expressions; see expression.hpp, which includes this. Not for direct use.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/expression.hpp>
#include <kernelrl/spelling.hpp>

namespace krl {

// Precedence climbing. Keeps the first error and skips the rest of the text, so that callers need
// not check.
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
      fail(token_.offset, "expected an operator or the end, found " + found());
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

  // The current token for a message: printable and short.
  std::string found() const {
    if (token_.kind == Token::kEnd) return "the end";
    std::string shown(token_.text.substr(0, 32));
    for (char& c : shown) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    }
    return "'" + shown + "'";
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
      fail(token_.offset, "expected '" + std::string(symbol) + "', found " + found());
  }

  std::uint32_t add(Node node) {
    if (error_) return 0;  // an operand may not exist then
    for (std::uint32_t i = 0; i < node.n_operands; ++i) {
      node.depth = (std::max)(node.depth, expression_.nodes_[node.operands[i]].depth + 1);
    }
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
    return fail(token.offset, "expected a number, a name or '(', found " + found());
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
      known.reserve(kFunctions.size());
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

}  // namespace krl
