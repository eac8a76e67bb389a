// Parses Python source into a tree, as far as answers in Python need it: imports, assignments,
// calls, with, functions and classes. Anything else becomes a node of kind kOther, with its text;
// no input is an error. Nothing is executed. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl::python {

struct Expression {
  enum Kind : std::uint8_t {
    kOther,
    kName,         // text
    kNumber,       // text, as it is written
    kString,       // text: its value; line: where the value begins
    kConstant,     // text: True, False, None
    kSequence,     // parts: of a tuple or a list
    kAttribute,    // parts: the owner; text: the name
    kCall,         // parts: what is called, then the arguments; names: of these, empty: positional,
                   // *: a sequence of them
    kSubscript,    // parts: of what, at what
    kUnary,        // text: + - not; parts: one
    kBinary,       // text: + - * / // % ** @ or a comparison, and, or; parts: two
    kConditional,  // parts: condition, value if true, value if false
    kFormat,       // an f-string; parts: its texts and the expressions between them
    kDictionary,   // parts: a key, its value, the next key, …
  } kind = kOther;
  std::string text;
  std::vector<Expression> parts;
  std::vector<std::string> names;
  std::uint32_t line = 0;  // 1-based
  int depth = 1;           // depth of the tree

  bool is(Kind wanted, std::string_view spelling) const {
    return kind == wanted && text == spelling;
  }
};

struct Parameter {
  std::string name;
  std::vector<Expression> otherwise;  // its default: none or one
};

struct Statement {
  enum Kind : std::uint8_t {
    kOther,       // expressions: its targets, as far as they are read; body, otherwise
    kAssign,      // expressions: the targets, then the value
    kExpression,  // expressions: one
    kReturn,      // expressions: one, or none
    kIf,          // expressions: the condition; body, otherwise
    kAssert,      // expressions: the condition, maybe the message
    kFunction,    // text: its name; parameters, body
    kClass,       // text: its name; expressions: its base, where that is one name; body
    kImport,      // parameters: each name, with its meaning as the default
    kWith,        // expressions: the contexts; body
    kNothing,     // pass, del, a docstring
  } kind = kOther;
  std::string text;  // for kOther the first word
  std::vector<Expression> expressions;
  std::vector<Parameter> parameters;
  std::vector<Statement> body, otherwise;
  // For kOther: the names that its line calls; in `f(…)` and `a.f(…)`, f.
  std::vector<std::string> called;
  std::uint32_t line = 0;
};

// Reads statements and expressions. No nesting is more than some 100 deep, for any source.
std::vector<Statement> read_python(std::string_view source);

// An expression on its own; kOther if the text is something else.
Expression read_python_expression(std::string_view text);

// Renders the expression as Python code on one line; a long one is cut.
std::string text_of(const Expression& expression);

}  // namespace krl::python
