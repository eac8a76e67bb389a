#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "plugins/backends/python_answers/binder.hpp"

namespace krl::python {
namespace {

constexpr int kMostInlined = 8;   // Python functions within each other
constexpr int kMostCalls = 1000;  // calls of the answer's own functions
// Limit on texts that replacing produces.
constexpr std::size_t kLongestReplaced = std::size_t{1} << 20;

bool has_names(const Expression& call) {
  return std::any_of(call.names.begin(), call.names.end(),
                     [](const std::string& name) { return !name.empty(); });
}

// Under its own name, where the import is not in the answer's text.
bool is_load_inline(const std::string& path) {
  return path == "load_inline" || path == "torch.utils.cpp_extension.load_inline" ||
         path == "cpp_extension.load_inline";
}

// `old` is not empty. Nothing if the result would be too long.
std::optional<std::string> replaced(const std::string& text, const std::string& old,
                                    const std::string& by) {
  std::string result;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(old, from)) != std::string::npos; from = at + old.size()) {
    result.append(text, from, at - from).append(by);
    if (result.size() > kLongestReplaced) return std::nullopt;
  }
  return result.append(text, from, std::string::npos);
}

}  // namespace

Value Binder::call(const Expression& e, const Scope& scope) {
  const Value callee = evaluate(e.parts[0], scope);
  if (callee.kind == Value::kLibrary && is_load_inline(callee.text)) return load_inline(e, scope);
  std::vector<Value> given;
  for (std::size_t i = 1; i < e.parts.size(); ++i) given.push_back(evaluate(e.parts[i], scope));
  switch (callee.kind) {
    case Value::kFunction:
      return own_call(callee.text, given, e);
    case Value::kPython:
      return inlined(callee, given, e);
    case Value::kMethod:
      return method(callee, given, e);
    case Value::kLibrary:
      if (callee.text == "torch.nn.Parameter" && given.size() == 1 && !has_own_model_ &&
          given[0].kind == Value::kUnknown && is_of_own_tensors(e.parts[1], scope))
        return given[0];
      return library_call(callee.text, given, e);
    case Value::kPart:
      return unknown("PyTorch computes '" + text_of(e) +
                     "': a module's forward is not the answer's own");
    case Value::kUnknown:
      return callee;
    default:
      return unknown("'" + text_of(e) + "' is not understood");
  }
}

bool Binder::is_of_own_tensors(const Expression& e, const Scope& scope) {
  const Value value = evaluate(e, scope);
  if (value.kind == Value::kTensor || value.kind == Value::kPart)
    return value.kind == Value::kTensor || own_tensor(value.text).kind == Value::kTensor;
  const bool is_computed = value.kind == Value::kUnknown || value.kind == Value::kMethod;
  return is_computed && std::any_of(e.parts.begin(), e.parts.end(), [&](const Expression& part) {
           return is_of_own_tensors(part, scope);
         });
}

Value Binder::load_inline(const Expression& e, const Scope& scope) {
  Extension extension;
  constexpr const char* kByPlace[] = {"name", "cpp_sources", "cuda_sources", "functions"};
  for (std::size_t i = 1; i < e.parts.size(); ++i) {
    const bool by_place = e.names[i - 1].empty() && i <= std::size(kByPlace);
    const std::string option = by_place ? kByPlace[i - 1] : e.names[i - 1];
    const Value value = evaluate(e.parts[i], scope);
    const bool has_items = value.kind == Value::kSequence || value.kind == Value::kDictionary;
    const auto parts = has_items ? value.items : std::vector{value};
    const std::size_t step = value.kind == Value::kDictionary ? 2 : 1;  // over its values
    for (std::size_t p = 0; p < parts.size(); p += step) {
      const Value& part = parts[p];
      if (option == "functions") {
        if (part.kind == Value::kText) extension.functions.push_back(part.text);
      } else if (option != "cuda_sources" && option != "cpp_sources") {
        break;
      } else if (part.kind == Value::kText) {
        (option == "cuda_sources" ? extension.cuda : extension.cpp)
            .push_back({part.text, part.line});
      } else if (part.kind != Value::kNone) {
        unread_ = "load_inline's " + option + " are not literal text";
        unread_line_ = e.line;
      }
    }
  }
  exported_.merge(functions_of(extension));
  extensions_.push_back(std::move(extension));
  return coded(Value::kExtension, "");
}

Value Binder::own_call(const std::string& function, const std::vector<Value>& given,
                       const Expression& e) {
  if (!following_) return unknown("'" + function + "' is called outside of forward");
  if (has_names(e)) return unknown("'" + function + "' is called with arguments by name");
  if (called_.size() == kMostCalls) return unknown("there are too many calls");
  std::string arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string what = "argument " + std::to_string(i + 1) + " of " + function;
    arguments += (i == 0 ? "" : ", ") + passed(given[i], what, e.line);
  }
  called_.push_back(function);
  const std::string result = "kernelrl_r" + std::to_string(called_.size());
  const auto known = exported_.find(function);
  emit(e.line, "auto " + result + " = kernelrl_host::result([&] { return " +
                   (known == exported_.end() ? function : known->second) + "(" + arguments +
                   "); });");
  return coded(Value::kTensor, result);
}

Value Binder::inlined(const Value& callee, const std::vector<Value>& given, const Expression& e) {
  if (inlined_ == kMostInlined || has_names(e)) {
    return unknown("'" + text_of(e) + "' is not understood");
  }
  const bool is_method = callee.text == "self";
  ++inlined_;
  Scope scope = arguments_for(*callee.function, is_method ? 1 : 0, given);
  if (is_method && !callee.function->parameters.empty()) {
    scope[callee.function->parameters[0].name] = texted(Value::kModel, "self");
  }
  const auto result = follow(callee.function->body, &scope);
  --inlined_;
  return result ? *result : coded(Value::kNone, "");
}

Value Binder::method(const Value& callee, const std::vector<Value>& given, const Expression& e) {
  const std::string& word = callee.text;
  if (callee.items[0].kind == Value::kPart) return callee.items[0];
  if (callee.items[0].kind == Value::kText) return text_method(callee, given, e);
  if (callee.items[0].kind != Value::kTensor)
    return unknown("'" + text_of(e) + "' is not understood");
  if (word == "clone" && !following_) return callee.items[0];  // clone of a parameter, as drawn
  const bool changes_nothing = std::all_of(given.begin(), given.end(), [](const Value& v) {
    return v.kind == Value::kDevice || v.kind == Value::kText || v.kind == Value::kBool;
  });
  if (word == "cuda" || word == "detach" || word == "float") return callee.items[0];
  if (word == "to" && changes_nothing) return callee.items[0];
  const bool like_another = given.size() == 1 && given[0].kind == Value::kTensor;
  if ((word == "view_as" || word == "reshape_as") && like_another)
    return coded(Value::kTensor, callee.code + "." + word + "(" + given[0].code + ")");
  if (word == "size" && given.empty()) return coded(Value::kShape, callee.code);
  std::string arguments;
  const bool whole = given.size() == 1 && given[0].kind == Value::kSequence;
  for (const Value& each : whole ? given[0].items : given) {
    if (each.kind != Value::kNumber) return unknown("PyTorch computes '" + text_of(e) + "'");
    arguments += (arguments.empty() ? "" : ", ") + each.code;
  }
  if (word == "size" || word == "dim" || word == "numel") {
    return integer_of(callee.code + "." + word + "(" + arguments + ")");
  }
  for (const char* view : {"contiguous", "t", "transpose", "unsqueeze", "squeeze", "flatten"}) {
    if (word == view)
      return coded(Value::kTensor, callee.code + "." + word + "(" + arguments + ")");
  }
  if (word == "view" || word == "reshape") {
    return coded(Value::kTensor, callee.code + "." + word + "({" + arguments + "})");
  }
  return unknown("PyTorch computes '" + text_of(e) + "'");
}

Value Binder::text_method(const Value& callee, const std::vector<Value>& given,
                          const Expression& e) {
  Value text = callee.items[0];
  const bool texts = std::all_of(given.begin(), given.end(),
                                 [](const Value& v) { return v.kind == Value::kText; });
  if (callee.text == "replace" && given.size() == 2 && texts && !given[0].text.empty()) {
    auto made = replaced(text.text, given[0].text, given[1].text);
    if (!made) return unknown(kTooLong);
    text.text = *std::move(made);
    return text;
  }
  if (callee.text == "strip" && given.empty()) {
    constexpr const char* kBlanks = " \t\n\r\f\v";
    const std::size_t begin = std::min(text.text.find_first_not_of(kBlanks), text.text.size());
    text.line += static_cast<std::uint32_t>(std::count(
        text.text.begin(), text.text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    text.text = text.text.substr(begin, text.text.find_last_not_of(kBlanks) + 1 - begin);
    return text;
  }
  return unknown("'" + text_of(e) + "' is not understood");
}

Value Binder::library_call(const std::string& path, const std::vector<Value>& given,
                           const Expression& e) {
  const std::string text = text_of(e);
  if (path == "int" && given.size() == 1 && given[0].kind == Value::kNumber && !given[0].integer) {
    return given[0].number ? number_of(std::trunc(*given[0].number), true)
                           : integer_of("static_cast<std::int64_t>(" + given[0].code + ")");
  }
  if ((path == "int" || path == "float" || path == "tuple" || path == "list" || path == "bool") &&
      given.size() == 1) {
    return given[0];
  }
  if (path == "len" && given.size() == 1) {
    if (given[0].kind == Value::kSequence)
      return number_of(static_cast<double>(given[0].items.size()), true);
    if (given[0].kind == Value::kShape) return integer_of(given[0].code + ".dim()");
  }
  if (path == "isinstance" && e.parts.size() == 3) return is_instance(given[0], e.parts[2]);
  if (path == "torch.device") return coded(Value::kDevice, "");
  if (path == "torch.flatten" && given.size() == 2 && given[0].kind == Value::kTensor) {
    return coded(Value::kTensor, given[0].code + ".flatten(" + given[1].code + ")");
  }
  if ((path == "torch.empty_like" || path == "torch.zeros_like") && given.size() == 1 &&
      given[0].kind == Value::kTensor) {
    if (!following_) return unknown("'" + text + "': a tensor is made outside of forward");
    const std::string made = "kernelrl_t" + std::to_string(++made_);
    emit(e.line, "auto " + made + " = at::" + path.substr(std::string_view("torch.").size()) + "(" +
                     given[0].code + ");");
    return coded(Value::kTensor, made);
  }
  if (path == "print" || path == "torch.cuda.synchronize") return coded(Value::kNone, "");
  if (path == "torch.nn.Parameter" && given.size() == 1 &&
      (given[0].kind == Value::kTensor ||
       (given[0].kind == Value::kPart && !given[0].text.empty()))) {
    return given[0];
  }
  if (path.rfind("torch.nn.", 0) == 0 && path.rfind("torch.nn.functional.", 0) != 0) {
    return texted(Value::kPart, "");  // takes the name of the attribute that holds it
  }
  if (path.rfind("torch.", 0) != 0) return unknown("'" + path + "' is not known");
  return unknown("PyTorch computes '" + text + "'");
}

}  // namespace krl::python
