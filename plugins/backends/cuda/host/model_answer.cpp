#include "plugins/backends/cuda/host/model_answer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plugins/backends/cuda/host/extension.hpp"
#include "plugins/backends/cuda/host/module_task.hpp"
#include "plugins/backends/cuda/host/python_source.hpp"
#include "plugins/backends/cuda/host/python_value.hpp"
#include "plugins/backends/evaluator/compile/source_file.hpp"

namespace krl::cuda {
namespace python {
namespace {

constexpr int kMostInlined = 8;   // Python functions within each other
constexpr int kMostNested = 200;  // expressions within each other, those of such functions too
constexpr int kMostCalls = 1000;  // of the answer's own functions
constexpr std::size_t kMostWeight = std::size_t{1} << 24;  // of all values that are made, in bytes
constexpr std::size_t kLongestSource = std::size_t{1} << 20;
constexpr const char* kTooLong = "the answer is too long to follow";
constexpr std::string_view kReturned = "what forward returns";

// Follows the answer's text from top to bottom, its constructor, and its forward, of which it writes
// down the calls. What it cannot follow is an unknown value, which is a problem only where the calls
// need it.
class Binder {
 public:
  explicit Binder(const TaskDefinition& task) : task_(task), module_(module_task(task)) {}

  Checked<BoundAnswer, SourceProblem> bind(std::string_view answer) {
    const std::vector<Statement> top = read_python(answer);
    for (const Statement& statement : top) run(statement, &globals_);
    const Statement* const model = class_of(top, "ModelNew");
    if (model == nullptr) return SourceProblem{1, 1, "there is no class ModelNew that can be read"};
    const Statement* const base =
        model->expressions.empty() ? nullptr : class_of(top, model->expressions[0].text);
    has_own_model_ = base != nullptr && base != model;
    for (const Statement* each : {has_own_model_ ? base : model, model}) {
      for (const Statement& member : each->body) {
        if (member.kind == Statement::kFunction) methods_[member.text] = &member;
      }
    }
    if (const auto it = methods_.find("__init__"); it != methods_.end()) construct(*it->second);
    const auto forward = methods_.find("forward");
    if (forward == methods_.end()) {
      return SourceProblem{model->line, 1, "ModelNew has no forward that can be read"};
    }
    follow_forward(*forward->second);
    if (!problem_ && called_.empty())
      refuse(forward->second->line, "forward calls no function of the answer's own");
    BoundAnswer bound;
    if (!problem_) bound.source = sources(forward->second->line);
    if (problem_) return *problem_;
    bound.forward = code_of_forward();
    return bound;
  }

 private:
  static const Statement* class_of(const std::vector<Statement>& body, std::string_view name) {
    const Statement* found = nullptr;
    for (const Statement& s : body) {
      if (s.kind == Statement::kClass && s.text == name) found = &s;
    }
    return found;
  }

  void refuse(std::uint32_t line, std::string why) {
    if (!problem_) problem_ = SourceProblem{line, 1, std::move(why)};
  }

  // Whether there may be one more value. A few lines could ask for any amount of time and memory: when
  // this is used up, nothing is followed any more.
  bool affords(const Value& value, std::uint32_t line) {
    if (is_used_up()) return false;
    weight_ += weight(value);
    if (is_used_up()) refuse(line, kTooLong);
    return !is_used_up();
  }
  bool is_used_up() const { return weight_ > kMostWeight; }

  // ---- statements that are followed without a forward: of the file and of the constructor

  void run(const Statement& statement, Scope* scope) {
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
        (*scope)[statement.text] =
            unknown("'" + statement.text + "' is a class of the answer's own");
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

  // What a statement assigns that is not followed, or may not be executed, is unknown; and what the
  // methods and functions assign that it calls.
  void forget(const Statement& s, Scope* scope) {
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
    if (s.kind == Statement::kFunction || s.kind == Statement::kClass) {
      (*scope)[s.text] = unknown("'" + s.text + "' depends on a condition");
      return;
    }
    for (const auto* body : {&s.body, &s.otherwise}) {
      for (const Statement& each : *body) forget(each, scope);
    }
  }

  void forget_called(const Expression& e, const Scope& scope) {
    for (const Expression& part : e.parts) forget_called(part, scope);
    if (e.kind != Expression::kCall) return;
    const Value callee = evaluate(e.parts[0], scope);
    if (callee.kind == Value::kPython) forget_body(*callee.function);
  }

  void forget_body(const Statement& function) {
    if (!affords({}, function.line) || !forgotten_.insert(&function).second) return;
    Scope inside;
    if (!function.parameters.empty())
      inside[function.parameters[0].name] = texted(Value::kModel, "self");
    for (const Statement& each : function.body) forget(each, &inside);
    forgotten_.erase(&function);
  }

  // Of `list.append(…)` and the like the list.
  void forget_changed(const Expression& e, Scope* scope) {
    if (e.kind != Expression::kCall || e.parts[0].kind != Expression::kAttribute) return;
    const Expression& owner = e.parts[0].parts[0];
    if (evaluate(owner, *scope).kind != Value::kSequence) return;
    assign(owner, unknown("'" + text_of(e) + "' is not understood"), scope);
  }

  void assign(const Expression& target, const Value& value, Scope* scope) {
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

  // The arguments of a call of a Python function, by its parameters, of which the first `skipped`
  // are not given.
  Scope arguments_for(const Statement& function, std::size_t skipped,
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

  // The sizes of the task by the names that the module's text has for them.
  Scope sizes() {
    Scope sizes;
    for (const auto& [name, axis] : module_.axes) sizes[name] = size_of_axis(axis);
    return sizes;
  }

  // What get_inputs() or get_init_inputs() of the answer's text gives, with the sizes of the case for
  // the names of variable axes.
  std::vector<Value> own_list(const std::string& function) {
    const auto found = globals_.find(function);
    if (found == globals_.end() || found->second.function == nullptr) return {};
    Scope scope = sizes();
    const auto list = follow(found->second.function->body, &scope);
    return list && list->kind == Value::kSequence ? list->items : std::vector<Value>();
  }

  void construct(const Statement& init) {
    Scope task = sizes();
    for (const auto& [name, value] : module_.names) task[name] = evaluate(value, task);
    std::vector<Value> given;
    for (const Expression& argument : module_.arguments) given.push_back(evaluate(argument, task));
    if (has_own_model_) given = own_list("get_init_inputs");
    Scope scope = arguments_for(init, 1, given);
    if (!init.parameters.empty()) scope[init.parameters[0].name] = texted(Value::kModel, "self");
    for (const Statement& statement : init.body) run(statement, &scope);
  }

  Value size_of_axis(const std::string& name) const {
    int place = 0;
    for (const Axis& axis : task_.axes) {
      if (axis.name == name && !axis.is_variable())
        return unknown("the axis " + name + " is derived");
      if (axis.name == name) {
        return integer_of("static_cast<std::int64_t>(kernelrl_host::current_call->axes[" +
                          std::to_string(place) + "])");
      }
      place += axis.is_variable() ? 1 : 0;
    }
    return unknown("no axis " + name);
  }

  // ---- forward

  void follow_forward(const Statement& forward) {
    std::vector<Value> given;
    const std::vector<Value> own = has_own_model_ ? own_list("get_inputs") : given;
    std::size_t input = 0;
    for (std::size_t i = 1; i < forward.parameters.size(); ++i) {
      const Parameter& parameter = forward.parameters[i];
      const auto constant = std::find_if(module_.constants.begin(), module_.constants.end(),
                                         [&](const auto& c) { return c.first == parameter.name; });
      if (constant != module_.constants.end()) {
        given.push_back(evaluate(constant->second, {}));
      } else if (i <= own.size() && is_constant(own[i - 1])) {
        given.push_back(own[i - 1]);
      } else if (input < module_.inputs.size()) {
        given.push_back(coded(Value::kTensor, "kernelrl_in_" + module_.inputs[input++]));
      } else if (parameter.otherwise.empty()) {
        return refuse(forward.line, "forward takes more than the " +
                                        std::to_string(module_.inputs.size()) +
                                        " inputs of the task");
      } else {
        given.push_back(evaluate(parameter.otherwise[0], globals_));
      }
    }
    if (input < module_.inputs.size()) {
      return refuse(forward.line,
                    "forward does not take the input '" + module_.inputs[input] + "'");
    }
    Scope scope = arguments_for(forward, 1, given);
    if (!forward.parameters.empty())
      scope[forward.parameters[0].name] = texted(Value::kModel, "self");
    following_ = true;
    const auto result = follow(forward.body, &scope);
    if (!result) return refuse(forward.line, "forward returns nothing");
    const std::string code = passed(*result, kReturned, result->line);
    emit(result->line, "return kernelrl_host::returned(" + code + ");");
  }

  static bool is_constant(const Value& value) {
    return value.kind == Value::kNumber || value.kind == Value::kBool ||
           value.kind == Value::kNone || value.kind == Value::kSequence;
  }

  // What the statements return, unknown where they cannot be followed; nothing if they go on.
  std::optional<Value> follow(const std::vector<Statement>& body, Scope* scope) {
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

  void emit(std::uint32_t line, const std::string& code) {
    lines_ += "#line " + std::to_string(line) + " \"" + kSourceFile + "\"\n  " + code + "\n";
  }

  // A value as an argument in C++; a problem if it is none.
  std::string passed(const Value& value, std::string_view what, std::uint32_t line) {
    switch (value.kind) {
      case Value::kNumber:
      case Value::kBool:
      case Value::kTensor:
        return value.code;
      case Value::kNone:
        return "c10::nullopt";
      case Value::kShape:
        return value.code + ".sizes()";
      case Value::kPart: {
        const Value tensor = own_tensor(value.text);
        if (tensor.kind == Value::kTensor) return tensor.code;
        refuse(line, tensor.text);
        return {};
      }
      case Value::kSequence: {
        std::string all;
        for (const Value& each : value.items)
          all += (all.empty() ? "" : ", ") + passed(each, what, line);
        return what == kReturned ? "std::make_tuple(" + all + ")" : "{" + all + "}";
      }
      case Value::kUnknown:
        refuse(line, value.text);
        return {};
      default:
        refuse(line, std::string(what) + " is no tensor, number or list of numbers");
        return {};
    }
  }

  // A parameter or buffer of the module: the input in the place of the one that has its name, or of
  // the only one whose name ends so.
  Value own_tensor(const std::string& path) const {
    const auto flat = [](std::string name) {
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    };
    std::vector<std::string> same, ending;
    for (const auto& [own, input] : module_.tensors) {
      if (own == path) return coded(Value::kTensor, "kernelrl_in_" + input);
      if (flat(own) == flat(path)) same.push_back(input);
      if (own.substr(own.rfind('.') + 1) == path.substr(path.rfind('.') + 1))
        ending.push_back(input);
    }
    const auto& found = same.empty() && !is_without_bias(path) ? ending : same;
    if (found.size() == 1) return coded(Value::kTensor, "kernelrl_in_" + found[0]);
    return unknown("self." + path + " is none of the tensors of the task's module");
  }

  // "conv.bias" of a layer that has a weight, and no bias in the task.
  bool is_without_bias(const std::string& path) const {
    const std::size_t dot = path.rfind('.');
    if (dot == path.npos || path.substr(dot) != ".bias" || module_.tensors.count(path) != 0)
      return false;
    const std::string weight = path.substr(0, dot) + ".weight";
    if (module_.tensors.count(weight) != 0) return true;
    const bool is_any = std::any_of(module_.tensors.begin(), module_.tensors.end(), [](auto& own) {
      return own.first.substr(own.first.rfind('.') + 1) == "bias";
    });
    return !is_any && own_tensor(weight).kind == Value::kTensor;
  }

  // ---- expressions

  Value evaluate(const Expression& e, const Scope& scope) {
    if (is_used_up()) return unknown(kTooLong);
    if (nested_ == kMostNested) return unknown("'" + text_of(e) + "' is nested too deeply");
    ++nested_;
    Value value = value_of(e, scope);
    --nested_;
    if (!affords(value, e.line)) return unknown(kTooLong);
    return value;
  }

  Value value_of(const Expression& e, const Scope& scope) {
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
      case Expression::kSequence: {
        Value made = coded(Value::kSequence, "");
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

  Value name(const std::string& text, const Scope& scope) const {
    for (const Scope* each : {&scope, &globals_}) {
      if (const auto found = each->find(text); found != each->end()) return found->second;
    }
    if (text == "nn") return texted(Value::kLibrary, "torch.nn");
    if (text == "F") return texted(Value::kLibrary, "torch.nn.functional");
    return texted(Value::kLibrary, text);
  }

  Value attribute(const Value& owner, const Expression& e) {
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

  // Of a linear layer the sizes are known by its weight.
  Value part_of(const std::string& path, const std::string& word) const {
    const Value weight = own_tensor(path + ".weight");
    if (weight.kind == Value::kTensor && word == "in_features")
      return integer_of(weight.code + ".size(1)");
    if (weight.kind == Value::kTensor && word == "out_features")
      return integer_of(weight.code + ".size(0)");
    const std::string whole = path + "." + word;
    return is_without_bias(whole) ? coded(Value::kNone, "") : texted(Value::kPart, whole);
  }

  Value item(const Value& owner, const Value& index, const Expression& e) {
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

  Value unary(Value value, const Expression& e) {
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

  Value binary(const Expression& e, const Scope& scope) {
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

  // ---- calls

  Value call(const Expression& e, const Scope& scope) {
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

  // Whether it has to do with the values of the module's own tensors, not only with their shapes.
  bool is_of_own_tensors(const Expression& e, const Scope& scope) {
    const Value value = evaluate(e, scope);
    if (value.kind == Value::kTensor || value.kind == Value::kPart)
      return value.kind == Value::kTensor || own_tensor(value.text).kind == Value::kTensor;
    const bool is_computed = value.kind == Value::kUnknown || value.kind == Value::kMethod;
    return is_computed && std::any_of(e.parts.begin(), e.parts.end(), [&](const Expression& part) {
             return is_of_own_tensors(part, scope);
           });
  }

  static bool has_names(const Expression& call) {
    return std::any_of(call.names.begin(), call.names.end(),
                       [](const std::string& name) { return !name.empty(); });
  }

  static bool is_load_inline(const std::string& path) {
    return path == "load_inline" || path == "torch.utils.cpp_extension.load_inline" ||
           path == "cpp_extension.load_inline";
  }

  Value load_inline(const Expression& e, const Scope& scope) {
    Extension extension;
    constexpr const char* kByPlace[] = {"name", "cpp_sources", "cuda_sources", "functions"};
    for (std::size_t i = 1; i < e.parts.size(); ++i) {
      const bool by_place = e.names[i - 1].empty() && i <= std::size(kByPlace);
      const std::string option = by_place ? kByPlace[i - 1] : e.names[i - 1];
      const Value value = evaluate(e.parts[i], scope);
      const auto parts = value.kind == Value::kSequence ? value.items : std::vector{value};
      for (const Value& part : parts) {
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

  Value own_call(const std::string& function, const std::vector<Value>& given,
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

  Value inlined(const Value& callee, const std::vector<Value>& given, const Expression& e) {
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

  Value method(const Value& callee, const std::vector<Value>& given, const Expression& e) {
    const std::string& word = callee.text;
    if (callee.items[0].kind == Value::kPart) return callee.items[0];
    if (callee.items[0].kind != Value::kTensor)
      return unknown("'" + text_of(e) + "' is not understood");
    if (word == "clone" && !following_) return callee.items[0];  // of a parameter, as drawn
    const bool changes_nothing = std::all_of(given.begin(), given.end(), [](const Value& v) {
      return v.kind == Value::kDevice || v.kind == Value::kText || v.kind == Value::kBool;
    });
    if (word == "cuda" || word == "detach" || word == "float") return callee.items[0];
    if (word == "to" && changes_nothing) return callee.items[0];
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

  Value library_call(const std::string& path, const std::vector<Value>& given,
                     const Expression& e) {
    const std::string text = text_of(e);
    if (path == "int" && given.size() == 1 && given[0].kind == Value::kNumber &&
        !given[0].integer) {
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
      emit(e.line, "auto " + made + " = at::" + path.substr(std::string_view("torch.").size()) +
                       "(" + given[0].code + ");");
      return coded(Value::kTensor, made);
    }
    if (path == "print") return coded(Value::kNone, "");
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

  // ---- the text

  std::string sources(std::uint32_t line) {
    if (!unread_.empty()) {
      refuse(unread_line_, unread_);
      return {};
    }
    std::string all = joined(extensions_);
    if (all.size() + lines_.size() > kLongestSource) {
      refuse(line, "the sources and the calls of forward are too long");
      return {};
    }
    for (const std::string& function : std::set(called_.begin(), called_.end())) {
      const auto known = exported_.find(function);
      if (known == exported_.end()) {
        refuse(line, "'" + function +
                         "' is none of load_inline's functions, nor does PYBIND11_MODULE "
                         "bind a function of that name to it");
      } else if (!defines(all, known->second)) {
        refuse(line, "'" + function + "' is in none of the answer's sources");
      }
    }
    return all;
  }

  std::string code_of_forward() const {
    std::string parameters;
    for (const TensorDefinition& input : task_.inputs) {
      parameters +=
          (parameters.empty() ? "" : ", ") + std::string("at::Tensor kernelrl_in_") + input.name;
    }
    return "#include <kernelrl/torch/call.hpp>\n#include <kernelrl/torch/model_answer.hpp>\n"
           "static auto kernelrl_forward(" +
           parameters + ") {\n" + lines_ +
           "}\n#line 1 \"forward\"\n"
           "void kernelrl_host::bind_functions(kernelrl_host::Module& m) "
           "{ m.def(\"forward\", &kernelrl_forward); }\n";
  }

  const TaskDefinition& task_;
  const ModuleTask module_;
  Scope globals_, attributes_;
  std::map<std::string, const Statement*> methods_;
  std::vector<Extension> extensions_;
  std::map<std::string, std::string> exported_;  // in Python -> in C++
  std::vector<std::string> called_;
  bool has_own_model_ = false;  // ModelNew derives from a model of the answer's text
  bool following_ = false;      // forward: its calls are written down
  std::string lines_;           // of forward, in C++
  std::string unread_;
  std::uint32_t unread_line_ = 0;
  std::set<const Statement*> forgotten_;  // the functions whose assignments are being forgotten
  int inlined_ = 0, nested_ = 0;
  int made_ = 0;            // tensors
  std::size_t weight_ = 0;  // of all values so far
  std::optional<SourceProblem> problem_;
};

}  // namespace
}  // namespace python

bool is_model_answer(std::string_view source) {
  constexpr std::string_view kClass = "class ModelNew";
  const std::size_t at = source.find(kClass);
  return at != std::string_view::npos && (at == 0 || source[at - 1] == '\n');
}

Checked<BoundAnswer, SourceProblem> bind_model_answer(std::string_view answer,
                                                      const TaskDefinition& task) {
  if (!task.scalars.empty())
    return SourceProblem{1, 1, "answers in Python get no scalars, which the task has"};
  return python::Binder(task).bind(answer);
}

}  // namespace krl::cuda
