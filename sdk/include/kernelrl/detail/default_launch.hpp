// The launch of a candidate without directives; see launch.hpp, which includes this.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <kernelrl/cuda_source.hpp>
#include <kernelrl/launch.hpp>

namespace krl {

// Finds the task's tensor, scalar or axis for every parameter of a kernel.
class ParameterMatcher {
 public:
  explicit ParameterMatcher(const TaskDefinition& task) {
    for (const TensorDefinition& tensor : task.inputs) tensors_.push_back(tensor.name);
    for (const TensorDefinition& tensor : task.outputs) {
      if (!task.find_input(tensor.name)) tensors_.push_back(tensor.name);
    }
    for (const ScalarDefinition& scalar : task.scalars) numbers_.push_back(scalar.name);
    for (const Axis& axis : task.axes) numbers_.push_back(axis.name);
  }

  // The arguments in the order of the parameters; empty if the parameters are ambiguous.
  std::vector<std::string> match(const KernelHead& kernel) const {
    std::vector<std::string> arguments = by_name(kernel);
    return arguments.empty() ? by_order(kernel) : arguments;
  }

  // "x, y, rows, cols"
  std::string names() const {
    std::string text;
    for (const auto* list : {&tensors_, &numbers_}) {
      for (const std::string& name : *list) text += (text.empty() ? "" : ", ") + name;
    }
    return text;
  }

 private:
  static bool contains(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }

  std::vector<std::string> by_name(const KernelHead& kernel) const {
    std::vector<std::string> arguments;
    for (const KernelParameter& parameter : kernel.parameters) {
      if (!contains(parameter.is_pointer ? tensors_ : numbers_, parameter.name)) return {};
      arguments.push_back(parameter.name);
    }
    return arguments;
  }

  // Pointers are matched to the tensors in order; numbers by name, or else to the scalars and then
  // the axes in order.
  std::vector<std::string> by_order(const KernelHead& kernel) const {
    std::vector<std::string> arguments;
    std::size_t tensor = 0, number = 0;
    const auto named = [this](const KernelParameter& p) {
      return p.is_pointer || contains(numbers_, p.name);
    };
    const bool numbers_named =
        std::all_of(kernel.parameters.begin(), kernel.parameters.end(), named);
    for (const KernelParameter& parameter : kernel.parameters) {
      if (parameter.is_pointer) {
        if (tensor == tensors_.size()) return {};
        arguments.push_back(tensors_[tensor++]);
      } else if (numbers_named) {
        arguments.push_back(parameter.name);
      } else {
        if (number == numbers_.size()) return {};
        arguments.push_back(numbers_[number++]);
      }
    }
    const bool all_used = tensor == tensors_.size() && (numbers_named || number == numbers_.size());
    return all_used ? arguments : std::vector<std::string>();
  }

  std::vector<std::string> tensors_;  // in order, each once
  std::vector<std::string> numbers_;  // scalars, then axes
};

inline Checked<LaunchDirective, SourceError> default_launch(const std::vector<KernelHead>& kernels,
                                                            const TaskDefinition& task) {
  const std::string form = "say with `// @launch kernel<<<grid, block>>>(arguments)` what runs";
  if (kernels.empty()) return SourceError{1, 1, "there is no __global__ function"};
  if (kernels.size() > 1) {
    return SourceError{
        kernels[1].line, 1,
        "there are " + std::to_string(kernels.size()) + " __global__ functions: " + form};
  }
  const KernelHead& kernel = kernels.front();
  if (kernel.is_template)
    return SourceError{kernel.line, 1, "'" + kernel.name + "' is a template: " + form};
  const ParameterMatcher matcher(task);
  const std::vector<std::string> arguments = matcher.match(kernel);
  if (arguments.empty()) {
    return SourceError{kernel.line, 1,
                       "the parameters of '" + kernel.name +
                           "' are not the task's tensors, scalars and axes (" + matcher.names() +
                           "): " + form};
  }
  const auto place = [&](const std::string& text) {
    Checked<Expression> expression = Expression::parse(text);
    return PlacedExpression{expression ? *std::move(expression) : Expression(), kernel.line, 1};
  };
  LaunchDirective launch;
  launch.kernel = kernel.name;
  launch.line = kernel.line;
  launch.grid = place("ceil_div(" + task.outputs.front().name + ".size, 256)");
  launch.block = place("256");
  launch.shared = place("0");
  for (const std::string& argument : arguments) launch.arguments.push_back(place(argument));
  return launch;
}

}  // namespace krl
