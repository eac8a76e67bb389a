#include "plugins/backends/cuda/host/python_source.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "plugins/backends/cuda/host/python_tokens.hpp"

namespace krl::cuda::python {
namespace {

constexpr int kDeepest = 100;  // of nested expressions and blocks: deeper ones are kOther

class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<Statement> statements() {
    std::vector<Statement> all;
    while (here().kind != Token::kEnd && here().kind != Token::kDedent) {
      const std::size_t begin = at_;
      statement(&all);
      if (at_ == begin) ++at_;
    }
    return all;
  }

  Expression whole_expression() {
    Expression read = tuple();
    while (here().kind == Token::kNewline) ++at_;
    return here().kind == Token::kEnd && !failed_ ? read : Expression();
  }

 private:
  const Token& here(std::size_t offset = 0) const {
    return tokens_[std::min(at_ + offset, tokens_.size() - 1)];
  }
  bool take(std::string_view spelling) {
    if (!here().is(spelling)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view spelling) {
    if (!take(spelling)) failed_ = true;
  }

  // ---- statements

  void statement(std::vector<Statement>* all) {
    failed_ = false;
    const std::size_t begin = at_;
    Statement read = compound();
    if (failed_) {
      at_ = begin;
      read = other();
    }
    all->push_back(std::move(read));
  }

  // A statement that is not understood: its logical line, and its block.
  Statement other() {
    Statement unknown;
    unknown.line = here().line;
    unknown.text = here().text;
    while (here().kind != Token::kNewline && here().kind != Token::kEnd) ++at_;
    if (here().kind == Token::kNewline) ++at_;
    if (here().kind == Token::kIndent) block();
    return unknown;
  }

  Statement compound() {
    Statement made;
    made.line = here().line;
    if (take("@")) {  // a decorator: what it decorates is another thing
      failed_ = true;
    } else if (take("class")) {
      made.kind = Statement::kClass;
      made.text = name();
      if (take("(")) skip_to(")");
      made.body = suite();
    } else if (take("def")) {
      made.kind = Statement::kFunction;
      made.text = name();
      made.parameters = parameters();
      made.body = suite();
    } else if (take("if")) {
      if_statement(&made);
    } else {
      simple(&made);
      if (!take(";") && here().kind != Token::kNewline) failed_ = true;
      if (here().kind == Token::kNewline) ++at_;
    }
    return made;
  }

  void if_statement(Statement* made) {
    made->kind = Statement::kIf;
    made->expressions.push_back(expression());
    made->body = suite();
    if (here().is("elif")) {
      Statement next;
      next.line = here().line;
      ++at_;
      if_statement(&next);
      made->otherwise.push_back(std::move(next));
    } else if (take("else")) {
      made->otherwise = suite();
    }
  }

  void simple(Statement* made) {
    if (here().is("import") || here().is("from") || take("pass")) {
      made->kind = Statement::kNothing;
      while (here().kind != Token::kNewline && here().kind != Token::kEnd && !here().is(";")) ++at_;
    } else if (take("return")) {
      made->kind = Statement::kReturn;
      if (here().kind != Token::kNewline) made->expressions.push_back(tuple());
    } else if (take("assert")) {
      made->kind = Statement::kAssert;
      do made->expressions.push_back(expression());
      while (take(","));
    } else {
      assignment(made);
    }
  }

  void assignment(Statement* made) {
    made->expressions.push_back(tuple());
    made->kind = made->expressions.front().kind == Expression::kString ? Statement::kNothing
                                                                       : Statement::kExpression;
    if (take(":")) expression();  // an annotation
    for (const char* word : {"+", "-", "*", "/", "//", "%"}) {
      if (!take(std::string(word) + "=")) continue;
      Expression value = binary(word, made->expressions.front(), tuple());
      made->expressions.push_back(std::move(value));
      made->kind = Statement::kAssign;
    }
    while (take("=")) {
      made->expressions.push_back(tuple());
      made->kind = Statement::kAssign;
    }
  }

  std::vector<Statement> suite() {
    if (take("->")) expression();
    expect(":");
    if (failed_) return {};
    if (here().kind == Token::kNewline) {
      ++at_;
      if (here().kind != Token::kIndent) {
        failed_ = true;
        return {};
      }
      return block();
    }
    std::vector<Statement> one;
    statement(&one);
    return one;
  }

  std::vector<Statement> block() {
    ++at_;  // the indent
    if (++depth_ > kDeepest) {
      for (int open = 1; open > 0 && here().kind != Token::kEnd; ++at_) {
        open += here().kind == Token::kIndent ? 1 : here().kind == Token::kDedent ? -1 : 0;
      }
      --depth_;
      failed_ = true;
      return {};
    }
    std::vector<Statement> body = statements();
    if (here().kind == Token::kDedent) ++at_;
    --depth_;
    failed_ = false;
    return body;
  }

  std::string name() {
    if (here().kind != Token::kName) failed_ = true;
    return tokens_[at_++].text;
  }

  void skip_to(std::string_view closing) {
    while (here().kind != Token::kNewline && here().kind != Token::kEnd && !here().is(closing))
      ++at_;
    expect(closing);
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> all;
    expect("(");
    while (!failed_ && !take(")")) {
      if (take("*") && take(",")) continue;
      Parameter parameter{name(), {}};
      if (take(":")) expression();
      if (take("=")) parameter.otherwise.push_back(expression());
      all.push_back(std::move(parameter));
      if (!take(",") && !here().is(")")) failed_ = true;
    }
    return all;
  }

  // ---- expressions

  static Expression binary(std::string text, Expression left, Expression right) {
    Expression made;
    made.kind = Expression::kBinary;
    made.line = left.line;
    made.text = std::move(text);
    made.parts = {std::move(left), std::move(right)};
    return made;
  }

  bool ends_tuple() const {
    return here().kind == Token::kNewline || here().kind == Token::kEnd || here().is(")") ||
           here().is("]") || here().is("=");
  }

  Expression tuple() {
    Expression first = expression();
    if (!here().is(",")) return first;
    Expression made;
    made.kind = Expression::kSequence;
    made.line = first.line;
    made.parts.push_back(std::move(first));
    while (take(",") && !ends_tuple()) made.parts.push_back(expression());
    return made;
  }

  Expression expression() {
    if (++depth_ > kDeepest) failed_ = true;
    Expression value = failed_ ? Expression() : operation(0);
    if (!failed_ && take("if")) {
      Expression made;
      made.kind = Expression::kConditional;
      made.line = value.line;
      Expression condition = operation(0);
      expect("else");
      made.parts = {std::move(condition), std::move(value), expression()};
      value = std::move(made);
    }
    --depth_;
    return value;
  }

  // The binary operator at the next token, if it is one of a level; levels bind ever more tightly.
  std::string operator_of(int level) {
    static const std::initializer_list<std::string_view> kLevels[] = {
        {"or"},     {"and"},
        {},         {"==", "!=", "<", ">", "<=", ">=", "is", "in"},
        {"+", "-"}, {"*", "/", "//", "%", "@"}};
    if (level == 3 && here().is("not") && here(1).is("in")) return at_ += 2, "not in";
    for (const std::string_view word : kLevels[level]) {
      if (!take(word)) continue;
      return word == "is" && take("not") ? "is not" : std::string(word);
    }
    return {};
  }

  Expression operation(int level) {
    constexpr int kNot = 2, kUnary = 6;
    if (level == kUnary || (level == kNot && here().is("not"))) return unary(level == kNot);
    if (level == kNot) return operation(level + 1);
    Expression left = operation(level + 1);
    for (std::string word; !failed_ && !(word = operator_of(level)).empty();) {
      left = binary(word, std::move(left), operation(level + 1));
    }
    return left;
  }

  Expression unary(bool logical) {
    if (logical || here().is("-") || here().is("+")) {
      Expression made;
      made.kind = Expression::kUnary;
      made.line = here().line;
      made.text = tokens_[at_++].text;
      if (++depth_ > kDeepest) failed_ = true;
      if (!failed_) made.parts.push_back(operation(logical ? 2 : 6));
      --depth_;
      return made;
    }
    Expression base = postfix();
    if (!failed_ && take("**")) return binary("**", std::move(base), operation(6));
    return base;
  }

  Expression postfix() {
    Expression made = atom();
    while (!failed_) {
      Expression next;
      next.line = made.line;
      if (take(".")) {
        next.kind = Expression::kAttribute;
        next.text = name();
        next.parts.push_back(std::move(made));
      } else if (take("(")) {
        next.kind = Expression::kCall;
        next.parts.push_back(std::move(made));
        arguments(&next);
      } else if (take("[")) {
        next.kind = Expression::kSubscript;
        next.parts.push_back(std::move(made));
        next.parts.push_back(tuple());
        expect("]");
      } else {
        break;
      }
      made = std::move(next);
    }
    return made;
  }

  void arguments(Expression* call) {
    while (!failed_ && !take(")")) {
      std::string by_name;
      if (here().kind == Token::kName && here(1).is("=")) {
        by_name = here().text;
        at_ += 2;
      }
      call->parts.push_back(expression());
      call->names.push_back(std::move(by_name));
      if (!take(",") && !here().is(")")) failed_ = true;
    }
  }

  Expression atom() {
    Expression made;
    made.line = here().line;
    const Token token = here();
    if (token.kind == Token::kNumber) {
      ++at_;
      made.kind = Expression::kNumber;
      made.text = token.text;
    } else if (token.kind == Token::kString) {
      made.kind = Expression::kString;
      for (; here().kind == Token::kString; ++at_) made.text += here().text;
      if (here().kind == Token::kOddString) failed_ = true;
    } else if (token.is("True") || token.is("False") || token.is("None")) {
      ++at_;
      made.kind = Expression::kConstant;
      made.text = token.text;
    } else if (token.is("(") || token.is("[")) {
      bracketed(&made);
    } else if (token.kind == Token::kName && !token.is("lambda") && !token.is("await")) {
      ++at_;
      made.kind = Expression::kName;
      made.text = token.text;
    } else {
      failed_ = true;
    }
    return made;
  }

  void bracketed(Expression* made) {
    const bool list = tokens_[at_++].text == "[";
    const std::string_view closing = list ? "]" : ")";
    made->kind = Expression::kSequence;
    bool comma = list;
    while (!failed_ && !take(closing)) {
      made->parts.push_back(expression());
      if (take(",")) {
        comma = true;
      } else if (!here().is(closing)) {
        failed_ = true;  // a comprehension, a star
      }
    }
    if (!comma && made->parts.size() == 1) {
      Expression only = std::move(made->parts.front());
      *made = std::move(only);
    }
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;  // the statement is not understood
};

std::string joined(const std::vector<Expression>& parts, std::size_t first,
                   const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = first; i < parts.size(); ++i) {
    if (i > first) text += ", ";
    if (i - first < names.size() && !names[i - first].empty()) text += names[i - first] + "=";
    text += text_of(parts[i]);
  }
  return text;
}

}  // namespace

std::vector<Statement> read_python(std::string_view source) {
  return Reader(python_tokens(source)).statements();
}

Expression read_python_expression(std::string_view text) {
  return Reader(python_tokens(text)).whole_expression();
}

std::string text_of(const Expression& e) {
  switch (e.kind) {
    case Expression::kOther:
      return "…";
    case Expression::kName:
    case Expression::kNumber:
    case Expression::kConstant:
      return e.text;
    case Expression::kString:
      return "'" + e.text + "'";
    case Expression::kSequence:
      return "(" + joined(e.parts, 0, {}) + (e.parts.size() == 1 ? ",)" : ")");
    case Expression::kAttribute:
      return text_of(e.parts[0]) + "." + e.text;
    case Expression::kCall:
      return text_of(e.parts[0]) + "(" + joined(e.parts, 1, e.names) + ")";
    case Expression::kSubscript:
      return text_of(e.parts[0]) + "[" + text_of(e.parts[1]) + "]";
    case Expression::kUnary:
      return e.text + (e.text == "not" ? " " : "") + text_of(e.parts[0]);
    case Expression::kBinary:
      return text_of(e.parts[0]) + " " + e.text + " " + text_of(e.parts[1]);
    case Expression::kConditional:
      return text_of(e.parts[1]) + " if " + text_of(e.parts[0]) + " else " + text_of(e.parts[2]);
  }
  return "…";
}

}  // namespace krl::cuda::python
