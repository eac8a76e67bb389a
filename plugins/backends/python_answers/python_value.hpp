// The value of a Python expression, as far as it is known without running it: a number, a tensor
// with its code in C++, a module within the module. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/python/syntax.hpp"

namespace krl::python {

struct Value {
  enum Kind {
    kUnknown,     // text: why
    kNumber,      // code; number: if it is known, and whether it is an integer
    kBool,        // number
    kNone,        // code
    kText,        // text; line
    kSequence,    // items
    kDictionary,  // items: a key, its value, the next key, …
    kTensor,      // code: an at::Tensor, or the result of an answer's function
    kShape,       // code: the tensor whose shape it is
    kDevice,      // a device or a type of float32: arguments that change nothing
    kExtension,   // result of load_inline
    kFunction,    // text: a function of an extension
    kPython,      // a function of the answer's Python
    kMethod,      // text: its name; code: of which tensor
    kPart,        // text: "conv": a module within the module, or a tensor of its own
    kLibrary,     // text: "torch.nn.functional.relu"
    kModel,       // self
  } kind = kUnknown;
  std::string text, code;
  std::optional<double> number;
  bool integer = false;
  std::vector<Value> items;
  const Statement* function = nullptr;
  std::uint32_t line = 0;
};
using Scope = std::map<std::string, Value>;

Value unknown(std::string why);
Value coded(Value::Kind kind, std::string code);
Value texted(Value::Kind kind, std::string text);
Value truth(bool is_true);
Value integer_of(std::string code);  // its value is known when the code runs
Value number_of(double number, bool integer);
Value number_in(const std::string& written);

std::size_t weight(const Value& value);  // approximate size in memory, in bytes

// Tells whether an `if` would be taken; none: unknown.
std::optional<bool> truth_of(const Value& value);

// Computes a SIGN b, for the expression `e`: unknown if PyTorch would compute it.
Value arithmetic(const std::string& sign, const Value& a, const Value& b, const Expression& e);
Value comparison(const std::string& sign, const Value& a, const Value& b, const Expression& e);

Value is_instance(const Value& value, const Expression& type);

}  // namespace krl::python
