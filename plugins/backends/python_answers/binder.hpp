// Binds the text of an answer in Python to a task: what bind_model_answer does, in four files.
//   model_answer.cpp        the answer as a whole: its class, constructor, forward, and the code in C++
//   binder_statements.cpp   statements, and what is forgotten where they are not followed
//   binder_expressions.cpp  expressions other than calls
//   binder_calls.cpp        calls: of load_inline, the extension's functions, Python, tensors, PyTorch
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/python_answers/extension.hpp"
#include "plugins/backends/python_answers/model_answer.hpp"
#include "plugins/backends/python_answers/module_task.hpp"
#include "plugins/backends/python_answers/python_value.hpp"
#include "plugins/python/syntax.hpp"

namespace krl::python {

constexpr const char* kTooLong = "the answer is too long to follow";

// Follows the answer's text from top to bottom, then its constructor, then its forward, whose calls
// it records. Anything that it cannot follow is an unknown value, which is a problem only if the
// calls need it. Handles one answer.
class Binder {
 public:
  explicit Binder(const TaskDefinition& task) : task_(task), module_(module_task(task)) {}

  Checked<BoundAnswer, evaluator::SourceProblem> bind(std::string_view answer);

 private:
  // ---- the answer as a whole

  void refuse(std::uint32_t line, std::string why);

  // True if there may be one more value. A few lines could ask for any amount of time and memory:
  // when this budget is used up, nothing more is followed.
  bool affords(const Value& value, std::uint32_t line);
  bool is_used_up() const;

  // The sizes of the task by the names that the module's text has for them.
  Scope sizes();
  Value size_of_axis(const std::string& name) const;

  // Returns the values of get_inputs() or get_init_inputs() in the answer's text, with the case's
  // sizes for the names of variable axes.
  std::vector<Value> own_list(const std::string& function);

  void construct(const Statement& init);
  void follow_forward(const Statement& forward);

  // Returns a value as an argument in C++; a problem if it cannot be one.
  std::string passed(const Value& value, std::string_view what, std::uint32_t line);

  // A parameter or buffer of the module: the input in the place of the one that has its name, or of
  // the only one whose name ends so.
  Value own_tensor(const std::string& path) const;

  // "conv.bias" of a layer that has a weight, and no bias in the task.
  bool is_without_bias(const std::string& path) const;

  void emit(std::uint32_t line, const std::string& code);
  std::string sources(std::uint32_t line);
  std::string code_of_forward() const;

  // ---- statements

  // Executes a statement of the file or the constructor.
  void run(const Statement& statement, Scope* scope);

  // Follows forward and the functions that it calls. Returns their result, unknown if they cannot
  // be followed; nothing if execution continues.
  std::optional<Value> follow(const std::vector<Statement>& body, Scope* scope);

  // Marks as unknown the targets of a statement that is not followed or may not be executed,
  // including those that the methods and functions it calls assign.
  void forget(const Statement& s, Scope* scope);
  void forget_called(const Expression& e, const Scope& scope);
  void forget_body(const Statement& function);

  // Marks the list of `list.append(…)` and the like as unknown.
  void forget_changed(const Expression& e, Scope* scope);

  void assign(const Expression& target, const Value& value, Scope* scope);

  // Returns the arguments of a call of a Python function, by its parameters; the first `skipped`
  // parameters are not given.
  Scope arguments_for(const Statement& function, std::size_t skipped,
                      const std::vector<Value>& given);

  // ---- expressions

  Value evaluate(const Expression& e, const Scope& scope);
  Value value_of(const Expression& e, const Scope& scope);
  Value formatted(const Expression& e, const Scope& scope);
  Value name(const std::string& text, const Scope& scope) const;
  Value attribute(const Value& owner, const Expression& e);

  // Returns a part of a linear layer, whose sizes are known from its weight.
  Value part_of(const std::string& path, const std::string& word) const;

  Value item(const Value& owner, const Value& index, const Expression& e);
  Value unary(Value value, const Expression& e);
  Value binary(const Expression& e, const Scope& scope);

  // ---- calls

  Value call(const Expression& e, const Scope& scope);

  // True if the expression depends on the values of the module's own tensors, not only on their
  // shapes.
  bool is_of_own_tensors(const Expression& e, const Scope& scope);

  Value load_inline(const Expression& e, const Scope& scope);
  Value own_call(const std::string& function, const std::vector<Value>& given, const Expression& e);
  Value inlined(const Value& callee, const std::vector<Value>& given, const Expression& e);
  Value method(const Value& callee, const std::vector<Value>& given, const Expression& e);
  static Value text_method(const Value& callee, const std::vector<Value>& given,
                           const Expression& e);
  Value library_call(const std::string& path, const std::vector<Value>& given, const Expression& e);

  const TaskDefinition& task_;
  const ModuleTask module_;
  Scope globals_, attributes_;
  std::map<std::string, const Statement*> methods_;
  std::vector<Extension> extensions_;
  std::map<std::string, std::string> exported_;  // names in Python -> names in C++
  std::vector<std::string> called_;
  bool has_own_model_ = false;  // ModelNew derives from a model of the answer's text
  bool following_ = false;      // forward: its calls are written down
  std::string lines_;           // lines of forward, in C++
  std::string unread_;
  std::uint32_t unread_line_ = 0;
  std::set<const Statement*> forgotten_;  // the functions whose assignments are being forgotten
  int inlined_ = 0, nested_ = 0;
  int made_ = 0;            // tensors
  std::size_t weight_ = 0;  // weight of all values so far
  std::optional<evaluator::SourceProblem> problem_;
};

}  // namespace krl::python
