#include "core/task/task.hpp"

#include <fmt/format.h>

#include <array>
#include <kernelrl/task_definition.hpp>
#include <vector>

namespace krl::core {
namespace {

std::string_view c_type(DType type) {
  static constexpr std::array<std::string_view, 6> kNames = {"float", "half",      "__nv_bfloat16",
                                                             "int",   "long long", "bool"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string declaration(const TensorDefinition& t) {
  return fmt::format("{} {}[{}]", c_type(t.dtype), t.name, fmt::join(t.shape, ", "));
}

std::string signature_of(const TaskDefinition& task) {
  std::vector<std::string> in, out;
  for (const TensorDefinition& t : task.inputs) in.push_back(declaration(t));
  for (const ScalarDefinition& s : task.scalars)
    in.push_back(fmt::format("{} {}", c_type(s.dtype), s.name));
  for (const TensorDefinition& t : task.outputs) out.push_back(declaration(t));
  const std::string inputs = in.empty() ? "" : fmt::format("in {}\n", fmt::join(in, ", "));
  return inputs + fmt::format("out {}", fmt::join(out, ", "));
}

std::string labels_of(const TaskDefinition& task, const std::vector<IntegerNames>& cases) {
  std::vector<std::string> labels;
  for (const IntegerNames& values : cases) {
    if (const auto resolved = resolve_case(task, values)) labels.push_back(resolved->label);
  }
  return fmt::format("{}", fmt::join(labels, "; "));
}

}  // namespace

Result<TaskFacts> facts_of(const Task& task) {
  const auto definition = parse_task_definition(task.definition_json);
  if (!definition) return invalid(fmt::format("task '{}': {}", task.id, definition.error()));
  if (definition->id != task.id) {
    return invalid(
        fmt::format("task '{}': its definition is that of task '{}'", task.id, definition->id));
  }
  return TaskFacts{signature_of(*definition), labels_of(*definition, definition->cases),
                   labels_of(*definition, definition->real), definition->naive,
                   !definition->holdout.empty()};
}

}  // namespace krl::core
