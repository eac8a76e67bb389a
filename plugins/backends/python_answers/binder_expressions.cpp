#include <string_view>

#include "plugins/backends/python_answers/binder.hpp"

namespace krl::python {
namespace {

constexpr int kMostNested = 200;  // nested expressions, including those of functions

}  // namespace

Value Binder::evaluate(const Expression& e, const Scope& scope) {
  if (is_used_up()) return unknown(kTooLong);
  if (nested_ == kMostNested) return unknown("'" + text_of(e) + "' is nested too deeply");
  ++nested_;
  Value value = value_of(e, scope);
  --nested_;
  if (!affords(value, e.line)) return unknown(kTooLong);
  return value;
}

Value Binder::value_of(const Expression& e, const Scope& scope) {
  switch (e.kind) {
    case Expression::kNumber:
      return number_in(e.text);
    case Expression::kString: {
      Value text = texted(Value::kText, e.text);
      text.line = e.line;
      return text;
    }
    case Expression::kConstant:
      return e.text == "None" ? coded(Value::kNone, "") : truth(e.text == "True");
    case Expression::kName:
      return name(e.text, scope);
    case Expression::kFormat:
      return formatted(e, scope);
    case Expression::kSequence:
    case Expression::kDictionary: {
      Value made =
          coded(e.kind == Expression::kSequence ? Value::kSequence : Value::kDictionary, "");
      for (const Expression& part : e.parts) made.items.push_back(evaluate(part, scope));
      return made;
    }
    case Expression::kAttribute:
      return attribute(evaluate(e.parts[0], scope), e);
    case Expression::kSubscript:
      return item(evaluate(e.parts[0], scope), evaluate(e.parts[1], scope), e);
    case Expression::kUnary:
      return unary(evaluate(e.parts[0], scope), e);
    case Expression::kBinary:
      return binary(e, scope);
    case Expression::kConditional: {
      const auto is_true = truth_of(evaluate(e.parts[0], scope));
      if (!is_true) return unknown("'" + text_of(e) + "' depends on more than the task");
      return evaluate(e.parts[*is_true ? 1 : 2], scope);
    }
    case Expression::kCall:
      return call(e, scope);
    case Expression::kOther:
      break;
  }
  return unknown("an expression that is not understood");
}

// Texts and integers that are known look the same in every format without a specification.
Value Binder::formatted(const Expression& e, const Scope& scope) {
  Value text = texted(Value::kText, "");
  text.line = e.line;
  for (const Expression& part : e.parts) {
    const Value value = evaluate(part, scope);
    if (value.kind == Value::kText) {
      text.text += value.text;
    } else if (value.kind == Value::kNumber && value.number && value.integer) {
      text.text += value.code;
    } else {
      return unknown("an f-string that holds more than texts and integers");
    }
  }
  return text;
}

Value Binder::name(const std::string& text, const Scope& scope) const {
  for (const Scope* each : {&scope, &globals_}) {
    if (const auto found = each->find(text); found != each->end()) return found->second;
  }
  if (text == "nn") return texted(Value::kLibrary, "torch.nn");
  if (text == "F") return texted(Value::kLibrary, "torch.nn.functional");
  return texted(Value::kLibrary, text);
}

Value Binder::attribute(const Value& owner, const Expression& e) {
  const std::string& word = e.text;
  switch (owner.kind) {
    case Value::kModel:
      if (const auto found = attributes_.find(word); found != attributes_.end())
        return found->second;
      if (const auto found = methods_.find(word); found != methods_.end()) {
        Value method = texted(Value::kPython, "self");
        method.function = found->second;
        return method;
      }
      if (word == "training") return truth(true);
      return texted(Value::kPart, word);
    case Value::kPart:
      if (const Value tensor = own_tensor(owner.text); tensor.kind == Value::kTensor) {
        return attribute(tensor, e);
      }
      if (owner.text.empty() && (word == "cuda" || word == "to")) break;
      return part_of(owner.text, word);
    case Value::kExtension:
      return texted(Value::kFunction, word);
    case Value::kLibrary:
      if (owner.text == "torch" && (word == "float32" || word == "float"))
        return coded(Value::kDevice, "");
      return texted(Value::kLibrary, owner.text + "." + word);
    case Value::kTensor:
      if (word == "shape") return coded(Value::kShape, owner.code);
      if (word == "is_cuda") return truth(true);
      if (word == "ndim") return integer_of(owner.code + ".dim()");
      if (word == "device" || word == "dtype") return coded(Value::kDevice, "");
      if (word == "data") return owner;
      if (word == "T") return coded(Value::kTensor, owner.code + ".t()");
      break;
    case Value::kUnknown:
      return owner;
    default:
      break;
  }
  Value method = texted(Value::kMethod, word);
  method.code = owner.code;
  method.items = {owner};
  return method;
}

Value Binder::part_of(const std::string& path, const std::string& word) const {
  const Value weight = own_tensor(path + ".weight");
  if (weight.kind == Value::kTensor && word == "in_features")
    return integer_of(weight.code + ".size(1)");
  if (weight.kind == Value::kTensor && word == "out_features")
    return integer_of(weight.code + ".size(0)");
  const std::string whole = path + "." + word;
  return is_without_bias(whole) ? coded(Value::kNone, "") : texted(Value::kPart, whole);
}

Value Binder::item(const Value& owner, const Value& index, const Expression& e) {
  const bool known = index.kind == Value::kNumber && index.number && index.integer;
  if (owner.kind == Value::kUnknown) return owner;
  if (owner.kind == Value::kShape && index.kind == Value::kNumber) {
    return integer_of(owner.code + ".size(" + index.code + ")");
  }
  if (owner.kind == Value::kSequence && known) {
    const double count = static_cast<double>(owner.items.size());
    const double at = *index.number < 0 ? *index.number + count : *index.number;
    if (at >= 0 && at < count) return owner.items[static_cast<std::size_t>(at)];
  }
  if (owner.kind == Value::kTensor && known && *index.number >= 0) {
    return coded(Value::kTensor, "kernelrl_host::item<" + index.code + ">(" + owner.code + ")");
  }
  return unknown("'" + text_of(e) + "' is not understood");
}

Value Binder::unary(Value value, const Expression& e) {
  if (e.text == "not") {
    const auto is_true = truth_of(value);
    return is_true ? truth(!*is_true)
                   : unknown("'" + text_of(e) + "' depends on more than the task");
  }
  if (value.kind != Value::kNumber) return unknown("PyTorch computes '" + text_of(e) + "'");
  if (e.text == "+") return value;
  if (value.number) return number_of(-*value.number, value.integer);
  value.code = "(-" + value.code + ")";
  return value;
}

Value Binder::binary(const Expression& e, const Scope& scope) {
  const std::string& sign = e.text;
  const Value a = evaluate(e.parts[0], scope);
  if (sign == "and" || sign == "or") {
    const auto left = truth_of(a);
    if (left) return *left == (sign == "or") ? a : evaluate(e.parts[1], scope);
    return unknown("'" + text_of(e) + "' depends on more than the task");
  }
  const Value b = evaluate(e.parts[1], scope);
  for (const Value* side : {&a, &b}) {
    if (side->kind == Value::kUnknown) return *side;
  }
  if (sign == "is" || sign == "is not") {
    if (a.kind != Value::kNone && b.kind != Value::kNone) return unknown("'" + text_of(e) + "'");
    return truth((a.kind == b.kind) == (sign == "is"));
  }
  if (std::string_view("+-*/%**//@").find(sign) != std::string_view::npos)
    return arithmetic(sign, a, b, e);
  return comparison(sign, a, b, e);
}

}  // namespace krl::python
