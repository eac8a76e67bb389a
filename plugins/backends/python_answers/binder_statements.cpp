#include <algorithm>

#include "plugins/backends/python_answers/binder.hpp"

namespace krl::python {
namespace {

// True if the body of a `with` has the same effect without the `with`.
bool changes_nothing(const Statement& with) {
  return std::all_of(with.expressions.begin(), with.expressions.end(), [](const Expression& e) {
    const std::string text = text_of(e);
    return text == "torch.no_grad()" || text == "torch.inference_mode()" ||
           text.rfind("torch.cuda.device(", 0) == 0;
  });
}

}  // namespace

void Binder::run(const Statement& statement, Scope* scope) {
  const auto& parts = statement.expressions;
  switch (statement.kind) {
    case Statement::kAssign: {
      const Value value = evaluate(parts.back(), *scope);
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) assign(parts[i], value, scope);
      break;
    }
    case Statement::kExpression:
      evaluate(parts[0], *scope);
      forget_changed(parts[0], scope);
      break;
    case Statement::kFunction:
      (*scope)[statement.text] = texted(Value::kPython, statement.text);
      (*scope)[statement.text].function = &statement;
      break;
    case Statement::kClass:
      (*scope)[statement.text] = unknown("'" + statement.text + "' is a class of the answer's own");
      break;
    case Statement::kImport:
      for (const Parameter& imported : statement.parameters)
        (*scope)[imported.name] = texted(Value::kLibrary, imported.otherwise[0].text);
      break;
    case Statement::kWith:
      if (!changes_nothing(statement)) return forget(statement, scope);
      for (const Statement& s : statement.body) run(s, scope);
      break;
    case Statement::kIf: {
      const auto is_true = truth_of(evaluate(parts[0], *scope));
      if (!is_true) return forget(statement, scope);
      for (const Statement& s : *is_true ? statement.body : statement.otherwise) run(s, scope);
      break;
    }
    default:
      forget(statement, scope);
  }
}

void Binder::forget(const Statement& s, Scope* scope) {
  for (const Expression& e : s.expressions) forget_called(e, *scope);
  for (const std::string& word : s.called) {
    const auto method = methods_.find(word);
    if (method != methods_.end()) forget_body(*method->second);
    if (const Value value = name(word, *scope); value.kind == Value::kPython)
      forget_body(*value.function);
  }
  const std::size_t targets = s.expressions.size() - (s.kind == Statement::kAssign ? 1 : 0);
  if (s.kind == Statement::kAssign || s.kind == Statement::kOther) {
    for (std::size_t i = 0; i < targets; ++i) {
      const std::string target = text_of(s.expressions[i]);
      assign(s.expressions[i],
             unknown("what is assigned to '" + target + "' in line " + std::to_string(s.line) +
                     " is not understood, or depends on a condition"),
             scope);
    }
  }
  if (s.kind == Statement::kExpression) forget_changed(s.expressions[0], scope);
  if (s.kind == Statement::kImport) return run(s, scope);
  if (s.kind == Statement::kFunction || s.kind == Statement::kClass) {
    (*scope)[s.text] = unknown("'" + s.text + "' depends on a condition");
    return;
  }
  for (const auto* body : {&s.body, &s.otherwise}) {
    for (const Statement& each : *body) forget(each, scope);
  }
}

void Binder::forget_called(const Expression& e, const Scope& scope) {
  for (const Expression& part : e.parts) forget_called(part, scope);
  if (e.kind != Expression::kCall) return;
  const Value callee = evaluate(e.parts[0], scope);
  if (callee.kind == Value::kPython) forget_body(*callee.function);
}

void Binder::forget_body(const Statement& function) {
  if (!affords({}, function.line) || !forgotten_.insert(&function).second) return;
  Scope inside;
  if (!function.parameters.empty())
    inside[function.parameters[0].name] = texted(Value::kModel, "self");
  for (const Statement& each : function.body) forget(each, &inside);
  forgotten_.erase(&function);
}

void Binder::forget_changed(const Expression& e, Scope* scope) {
  if (e.kind != Expression::kCall || e.parts[0].kind != Expression::kAttribute) return;
  const Expression& owner = e.parts[0].parts[0];
  if (evaluate(owner, *scope).kind != Value::kSequence) return;
  assign(owner, unknown("'" + text_of(e) + "' is not understood"), scope);
}

void Binder::assign(const Expression& target, const Value& value, Scope* scope) {
  if (!affords(value, target.line)) return;
  if (target.kind == Expression::kName) {
    Value& kept = (*scope)[target.text];
    kept = value;
    if (kept.kind == Value::kPart && kept.text.empty()) kept.text = target.text;
  } else if (target.kind == Expression::kAttribute &&
             target.parts[0].is(Expression::kName, "self")) {
    Value& kept = attributes_[target.text];
    kept = value;
    if (kept.kind == Value::kPart && kept.text.empty()) kept.text = target.text;
  } else if (target.kind == Expression::kSequence) {
    for (std::size_t i = 0; i < target.parts.size(); ++i) {
      const Value place = number_of(static_cast<double>(i), true);
      assign(target.parts[i], item(value, place, target.parts[i]), scope);
    }
  } else if (target.kind == Expression::kSubscript || target.kind == Expression::kAttribute) {
    assign(target.parts[0], unknown("'" + text_of(target) + "' is assigned"), scope);
  }
}

Scope Binder::arguments_for(const Statement& function, std::size_t skipped,
                            const std::vector<Value>& given) {
  Scope scope;
  for (std::size_t i = skipped; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    const std::size_t place = i - skipped;
    Value value = place < given.size() ? given[place]
                  : parameter.otherwise.empty()
                      ? unknown("no value is given for '" + parameter.name + "'")
                      : evaluate(parameter.otherwise[0], globals_);
    if (!affords(value, function.line)) break;
    scope[parameter.name] = std::move(value);
  }
  return scope;
}

std::optional<Value> Binder::follow(const std::vector<Statement>& body, Scope* scope) {
  std::optional<Value> result;
  for (const Statement& s : body) {
    if (!affords({}, s.line)) return unknown(kTooLong);
    const auto& parts = s.expressions;
    switch (s.kind) {
      case Statement::kReturn:
        result = parts.empty() ? coded(Value::kNone, "") : evaluate(parts[0], *scope);
        break;
      case Statement::kExpression:
        result = evaluate(parts[0], *scope);
        if (result->kind != Value::kUnknown) result.reset();
        break;
      case Statement::kIf:
        if (const auto is_true = truth_of(evaluate(parts[0], *scope))) {
          result = follow(*is_true ? s.body : s.otherwise, scope);
        } else {
          result =
              unknown("the condition '" + text_of(parts[0]) + "' depends on more than the task");
        }
        break;
      case Statement::kWith:
        result = changes_nothing(s)
                     ? follow(s.body, scope)
                     : std::optional(unknown("'with " + text_of(parts[0]) + "' is not understood"));
        break;
      case Statement::kOther:
        result = unknown("a statement that is not understood: '" + s.text + " …'");
        break;
      case Statement::kAssert:
      case Statement::kNothing:
        break;
      default:
        run(s, scope);
    }
    if (result && result->line == 0) result->line = s.line;
    if (result) return result;
  }
  return std::nullopt;
}

}  // namespace krl::python
