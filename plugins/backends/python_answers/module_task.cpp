#include "plugins/backends/python_answers/module_task.hpp"

#include <algorithm>
#include <sstream>

namespace krl::python {
namespace {

// The rest of the prompt's line that begins with `start`, without the period at its end.
std::string line_after(const std::string& prompt, std::string_view start) {
  std::istringstream lines(prompt);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(start, 0) != 0) continue;
    if (line.back() == '.') line.pop_back();
    return line.substr(start.size());
  }
  return {};
}

std::vector<std::string> split(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return parts;
}

// Parses "a = 1, b = (2, 3)".
ModuleTask::Named named_values(const std::string& text) {
  ModuleTask::Named values;
  const Expression call = read_python_expression("f(" + text + ")");
  for (std::size_t i = 0; i < call.names.size(); ++i) {
    values.emplace_back(call.names[i], call.parts[i + 1]);
  }
  return values;
}

}  // namespace

ModuleTask module_task(const TaskDefinition& task) {
  ModuleTask module;
  const std::string constructed = line_after(task.prompt, "It is constructed as ");
  constexpr std::string_view kWith = ") with ";
  const std::size_t with = constructed.find(kWith);
  const bool has_names = with != std::string::npos;
  const Expression call =
      read_python_expression(has_names ? constructed.substr(0, with + 1) : constructed);
  if (call.kind == Expression::kCall) {
    module.arguments.assign(call.parts.begin() + 1, call.parts.end());
  }
  if (has_names) module.names = named_values(constructed.substr(with + kWith.size()));
  for (const Axis& axis : task.axes) module.axes[axis.name] = axis.name;
  for (const std::string& renamed :
       split(line_after(task.prompt, "Names: the axis "), "; the axis ")) {
    const auto words = split(renamed, " is ");
    if (words.size() == 2) module.axes[words[1]] = words[0];
  }
  module.constants = named_values(line_after(task.prompt, "Constant arguments: "));
  const std::string places = "Inputs in the places of the module's own tensors: ";
  for (const std::string& pair : split(line_after(task.prompt, places), ", ")) {
    const auto words = split(pair, " is ");
    if (words.size() == 2 && task.find_input(words[0]) != nullptr)
      module.tensors[words[1]] = words[0];
  }
  for (const TensorDefinition& input : task.inputs) {
    const bool is_own = std::any_of(module.tensors.begin(), module.tensors.end(),
                                    [&](const auto& own) { return own.second == input.name; });
    if (!is_own) module.inputs.push_back(input.name);
  }
  return module;
}

}  // namespace krl::python
