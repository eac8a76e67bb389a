#include "plugins/backends/python_answers/model_answer.hpp"

#include <algorithm>
#include <utility>

#include "plugins/backends/evaluator/compile/source_file.hpp"
#include "plugins/backends/python_answers/binder.hpp"

namespace krl::python {
using namespace evaluator;
namespace {

constexpr std::size_t kMostWeight = std::size_t{1} << 24;  // bytes of all values that are made
constexpr std::size_t kLongestSource = std::size_t{1} << 20;
constexpr std::string_view kReturned = "what forward returns";

const Statement* class_of(const std::vector<Statement>& body, std::string_view name) {
  const Statement* found = nullptr;
  for (const Statement& s : body) {
    if (s.kind == Statement::kClass && s.text == name) found = &s;
  }
  return found;
}

bool is_constant(const Value& value) {
  return value.kind == Value::kNumber || value.kind == Value::kBool || value.kind == Value::kNone ||
         value.kind == Value::kSequence;
}

}  // namespace

Checked<BoundAnswer, SourceProblem> Binder::bind(std::string_view answer) {
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

bool Binder::is_used_up() const { return weight_ > kMostWeight; }

void Binder::refuse(std::uint32_t line, std::string why) {
  if (!problem_) problem_ = SourceProblem{line, 1, std::move(why)};
}

bool Binder::affords(const Value& value, std::uint32_t line) {
  if (is_used_up()) return false;
  weight_ += weight(value);
  if (is_used_up()) refuse(line, kTooLong);
  return !is_used_up();
}

Scope Binder::sizes() {
  Scope sizes;
  for (const auto& [name, axis] : module_.axes) sizes[name] = size_of_axis(axis);
  return sizes;
}

std::vector<Value> Binder::own_list(const std::string& function) {
  const auto found = globals_.find(function);
  if (found == globals_.end() || found->second.function == nullptr) return {};
  Scope scope = sizes();
  const auto list = follow(found->second.function->body, &scope);
  return list && list->kind == Value::kSequence ? list->items : std::vector<Value>();
}

void Binder::construct(const Statement& init) {
  Scope task = sizes();
  for (const auto& [name, value] : module_.names) task[name] = evaluate(value, task);
  std::vector<Value> given;
  for (const Expression& argument : module_.arguments) given.push_back(evaluate(argument, task));
  if (has_own_model_) given = own_list("get_init_inputs");
  Scope scope = arguments_for(init, 1, given);
  if (!init.parameters.empty()) scope[init.parameters[0].name] = texted(Value::kModel, "self");
  for (const Statement& statement : init.body) run(statement, &scope);
}

Value Binder::size_of_axis(const std::string& name) const {
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

void Binder::follow_forward(const Statement& forward) {
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
    return refuse(forward.line, "forward does not take the input '" + module_.inputs[input] + "'");
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

void Binder::emit(std::uint32_t line, const std::string& code) {
  lines_ += "#line " + std::to_string(line) + " \"" + kSourceFile + "\"\n  " + code + "\n";
}

std::string Binder::passed(const Value& value, std::string_view what, std::uint32_t line) {
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

Value Binder::own_tensor(const std::string& path) const {
  const auto flat = [](std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
  };
  std::vector<std::string> same, ending;
  for (const auto& [own, input] : module_.tensors) {
    if (own == path) return coded(Value::kTensor, "kernelrl_in_" + input);
    if (flat(own) == flat(path)) same.push_back(input);
    if (own.substr(own.rfind('.') + 1) == path.substr(path.rfind('.') + 1)) ending.push_back(input);
  }
  const auto& found = same.empty() && !is_without_bias(path) ? ending : same;
  if (found.size() == 1) return coded(Value::kTensor, "kernelrl_in_" + found[0]);
  return unknown("self." + path + " is none of the tensors of the task's module");
}

bool Binder::is_without_bias(const std::string& path) const {
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

std::string Binder::sources(std::uint32_t line) {
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

std::string Binder::code_of_forward() const {
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

bool is_model_answer(std::string_view source) {
  constexpr std::string_view kClass = "class ModelNew";
  const std::size_t at = source.find(kClass);
  return at != std::string_view::npos && (at == 0 || source[at - 1] == '\n');
}

Checked<BoundAnswer, SourceProblem> bind_model_answer(std::string_view answer,
                                                      const TaskDefinition& task) {
  if (!task.scalars.empty())
    return SourceProblem{1, 1, "answers in Python get no scalars, which the task has"};
  return Binder(task).bind(answer);
}

}  // namespace krl::python
