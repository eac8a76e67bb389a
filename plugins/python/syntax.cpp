#include "plugins/python/syntax.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "plugins/python/tokens.hpp"

namespace krl::python {
namespace {

constexpr int kDeepest = 100;  // nested expressions and blocks: deeper ones are kOther

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
    Statement read;
    if (++depth_ > kDeepest) {
      failed_ = true;
    } else {
      read = compound();
    }
    if (failed_) {
      at_ = begin;
      read = other(std::move(read));
    }
    --depth_;
    all->push_back(std::move(read));
  }

  static bool has_suite(std::string_view word) {
    constexpr std::string_view kWords[] = {"if",  "elif",   "else",    "for",   "while", "with",
                                           "try", "except", "finally", "match", "case",  "async"};
    return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
  }

  // Makes a node of a statement that is not understood: its logical line, and its suite. `read`:
  // the parts read before that was known. No suite is read twice, which would double the time with
  // each level.
  Statement other(Statement read) {
    Statement unknown;
    unknown.line = here().line;
    unknown.text = here().text;
    unknown.expressions = targets();
    unknown.body = std::move(read.body);
    unknown.otherwise = std::move(read.otherwise);
    const auto has_line_ended = [&] {
      return here().kind == Token::kNewline || here().kind == Token::kEnd;
    };
    for (int open = 0; !has_line_ended(); ++at_) {
      if (here().kind == Token::kName && here(1).is("(")) unknown.called.emplace_back(here().text);
      const bool begins_suite = open == 0 && here().is(":") && has_suite(unknown.text);
      if (begins_suite && at_ + 1 >= read_to_ && depth_ <= kDeepest) {
        unknown.body = suite();
        failed_ = false;
        return unknown;
      }
      open += here().is("(") || here().is("[") || here().is("{") ? 1 : 0;
      open -= here().is(")") || here().is("]") || here().is("}") ? 1 : 0;
    }
    if (here().kind == Token::kNewline) ++at_;
    if (here().kind == Token::kIndent) skip_block();
    failed_ = false;
    return unknown;
  }

  // Parses the targets of `a = b = …`, `a |= …`, `a: int = …` and `for a, b in …`.
  std::vector<Expression> targets() {
    std::vector<Expression> all;
    const std::size_t begin = at_;
    failed_ = false;
    const bool loop = take("for");
    do {
      if (has_suite(here().text)) break;
      Expression target = loop ? postfix() : tuple();
      if (failed_ || (!loop && here().kind != Token::kOperator)) break;
      all.push_back(std::move(target));
    } while (take(loop ? "," : "="));
    at_ = begin;
    failed_ = false;
    return all;
  }

  Statement compound() {
    Statement made;
    made.line = here().line;
    if (take("@")) {  // a decorator: it changes the decorated function
      failed_ = true;
    } else if (take("class")) {
      made.kind = Statement::kClass;
      made.text = name();
      if (take("(")) {
        if (here(1).is(")")) made.expressions.push_back(atom());
        skip_to(")");
      }
      made.body = suite();
    } else if (take("def")) {
      made.kind = Statement::kFunction;
      made.text = name();
      made.parameters = parameters();
      made.body = suite();
    } else if (take("if")) {
      if_statement(&made);
    } else if (take("with")) {
      with_statement(&made);
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
      if (++depth_ > kDeepest) failed_ = true;
      if (!failed_) if_statement(&next);
      --depth_;
      made->otherwise.push_back(std::move(next));
    } else if (take("else")) {
      made->otherwise = suite();
    }
  }

  void with_statement(Statement* made) {
    made->kind = Statement::kWith;
    do made->expressions.push_back(expression());
    while (take(","));
    made->body = suite();  // fails at `as`
  }

  // "torch.nn.functional"
  std::string dotted_name() {
    std::string path = name();
    while (take(".")) path += "." + name();
    return path;
  }

  void import(Statement* made) {
    made->kind = Statement::kImport;
    const std::string from = take("from") ? dotted_name() + "." : "";
    expect("import");
    const bool bracketed = take("(");
    do {
      if (bracketed && here().is(")")) break;
      Expression path;
      path.kind = Expression::kName;
      path.line = here().line;
      path.text = take("*") ? "*" : dotted_name();
      // Without `as`, `import a.b` binds the name a.
      std::string called = path.text.substr(0, path.text.find('.'));
      if (take("as")) {
        called = name();
      } else if (from.empty()) {
        path.text = called;
      }
      path.text.insert(0, from);
      made->parameters.push_back({std::move(called), {std::move(path)}});
    } while (!failed_ && take(","));
    if (bracketed) expect(")");
  }

  void simple(Statement* made) {
    if (here().is("import") || here().is("from")) {
      import(made);
    } else if (take("pass") || take("del")) {
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
    std::vector<Statement> line;
    do statement(&line);
    while (tokens_[at_ - 1].is(";"));
    read_to_ = std::max(read_to_, at_);
    return line;
  }

  std::vector<Statement> block() {
    std::vector<Statement> body;
    const bool too_deep = ++depth_ > kDeepest;
    if (too_deep) {
      skip_block();
    } else {
      ++at_;  // the indent
      body = statements();
      if (here().kind == Token::kDedent) ++at_;
    }
    --depth_;
    read_to_ = std::max(read_to_, at_);
    failed_ = too_deep;
    return body;
  }

  void skip_block() {
    ++at_;  // the indent
    for (int open = 1; open > 0 && here().kind != Token::kEnd; ++at_) {
      open += here().kind == Token::kIndent ? 1 : here().kind == Token::kDedent ? -1 : 0;
    }
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

  // Chains such as a + b + c are trees as well, which everything that follows descends.
  void add(Expression part, Expression* made) {
    made->depth = std::max(made->depth, part.depth + 1);
    if (made->depth > kDeepest) failed_ = true;
    made->parts.push_back(std::move(part));
  }

  Expression binary(std::string text, Expression left, Expression right) {
    Expression made;
    made.kind = Expression::kBinary;
    made.line = left.line;
    made.text = std::move(text);
    add(std::move(left), &made);
    add(std::move(right), &made);
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
    add(std::move(first), &made);
    while (take(",") && !ends_tuple()) add(expression(), &made);
    return made;
  }

  Expression expression() {
    if (++depth_ > kDeepest) failed_ = true;
    Expression value = failed_ ? Expression() : operation(0);
    if (!failed_ && take("if")) {
      Expression made;
      made.kind = Expression::kConditional;
      made.line = value.line;
      add(operation(0), &made);
      add(std::move(value), &made);
      expect("else");
      add(expression(), &made);
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
      if (!failed_) add(operation(logical ? 2 : 6), &made);
      --depth_;
      return made;
    }
    Expression base = postfix();
    if (!failed_ && take("**")) {
      if (++depth_ > kDeepest) failed_ = true;
      if (!failed_) base = binary("**", std::move(base), operation(6));
      --depth_;
    }
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
        add(std::move(made), &next);
      } else if (take("(")) {
        next.kind = Expression::kCall;
        add(std::move(made), &next);
        arguments(&next);
      } else if (take("[")) {
        next.kind = Expression::kSubscript;
        add(std::move(made), &next);
        add(tuple(), &next);
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
      if (take("*")) by_name = "*";
      add(expression(), call);
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
      if (here().kind == Token::kOddString || here().kind == Token::kFormat) failed_ = true;
    } else if (token.kind == Token::kFormat) {
      ++at_;
      formatted(token, &made);
    } else if (token.is("{")) {
      ++at_;
      dictionary(&made);
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

  // The texts of an f-string, and the expressions in braces between them.
  void formatted(const Token& token, Expression* made) {
    made->kind = Expression::kFormat;
    const std::string& text = token.text;
    Expression piece;
    piece.kind = Expression::kString;
    piece.line = token.line;
    for (std::size_t i = 0; i < text.size() && !failed_; ++i) {
      const bool is_brace = text[i] == '{' || text[i] == '}';
      const bool is_doubled = is_brace && i + 1 < text.size() && text[i + 1] == text[i];
      if (is_brace && !is_doubled) {
        const std::size_t end = text.find('}', i);
        if (text[i] == '}' || end == std::string::npos) {
          failed_ = true;
          return;
        }
        add(piece, made);
        piece.text.clear();
        add(read_python_expression(std::string_view(text).substr(i + 1, end - i - 1)), made);
        i = end;
        continue;
      }
      piece.text += text[i];
      i += is_doubled ? 1 : 0;
    }
    add(std::move(piece), made);
  }

  void dictionary(Expression* made) {
    made->kind = Expression::kDictionary;
    while (!failed_ && !take("}")) {
      add(expression(), made);
      expect(":");
      add(expression(), made);
      if (!take(",") && !here().is("}")) failed_ = true;
    }
  }

  void bracketed(Expression* made) {
    const bool list = tokens_[at_++].text == "[";
    const std::string_view closing = list ? "]" : ")";
    made->kind = Expression::kSequence;
    bool comma = list;
    while (!failed_ && !take(closing)) {
      add(expression(), made);
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
  std::size_t read_to_ = 0;  // the end of the last suite that was read
  int depth_ = 0;
  bool failed_ = false;  // the statement is not understood
};

}  // namespace

std::vector<Statement> read_python(std::string_view source) {
  return Reader(python_tokens(source)).statements();
}

Expression read_python_expression(std::string_view text) {
  return Reader(python_tokens(text)).whole_expression();
}

}  // namespace krl::python
