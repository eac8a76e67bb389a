// Resolves a task definition for a case; see task_definition.hpp, which includes this.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kernelrl/checked.hpp>
#include <kernelrl/expression.hpp>
#include <kernelrl/task_definition.hpp>

namespace krl {

inline std::string TaskOrigin::locate(std::string_view key, int line, int column) const {
  const auto found = positions.find(key);
  if (file.empty() || found == positions.end()) return file;
  const LineColumn& start = found->second;
  const int absolute = line == 1 ? start.column + column - 1 : column;
  return file + ":" + std::to_string(start.line + line - 1) + ":" + std::to_string(absolute);
}

// Evaluates the expressions of one definition for one case. The first problem ends it.
class CaseResolver {
 public:
  CaseResolver(const TaskDefinition& task, const IntegerNames& values)
      : task_(task), values_(values) {}

  Checked<ResolvedCase, DefinitionProblem> resolve() {
    const bool resolved = resolve_axes() && resolve_inputs() && resolve_scalars() &&
                          resolve_outputs() && resolve_work() && resolve_terms();
    if (!resolved) return problem_;
    return std::move(case_);
  }

 private:
  bool fail(std::string path, std::string message, std::size_t offset = 0) {
    problem_ = DefinitionProblem{std::move(path), std::move(message), offset, false};
    return false;
  }

  static std::string element(const char* list, std::size_t index) {
    return std::string(list) + "[" + std::to_string(index) + "]";
  }

  bool resolve_axes() {
    for (const Axis& axis : task_.axes) {
      const std::string path = "axes." + axis.name;
      std::int64_t size = 0;
      if (axis.is_variable()) {
        const auto given = values_.find(axis.name);
        if (given == values_.end())
          return fail(path, "the case gives no value to axis '" + axis.name + "'");
        size = given->second;
        case_.label += (case_.label.empty() ? "" : " ") + axis.name + "=" + std::to_string(size);
      } else if (!integer(axis.size, path, &size)) {
        return false;
      }
      if (size < 1) {
        return fail(
            path, "axis '" + axis.name + "' is " + std::to_string(size) + "; it must be positive");
      }
      case_.axes[axis.name] = size;
      real_axes_[axis.name] = static_cast<double>(size);
    }
    return true;
  }

  bool integer(const std::string& text, const std::string& path, std::int64_t* out) {
    const Checked<Expression> expression = Expression::parse(text);
    if (!expression) return fail(path, expression.error().message, expression.error().offset);
    const Checked<std::int64_t> value = expression->integer(case_.axes);
    if (!value) return fail(path, value.error().message, value.error().offset);
    *out = *value;
    return true;
  }

  bool real(const std::string& text, const std::string& path, double* out) {
    const Checked<Expression> expression = Expression::parse(text);
    if (!expression) return fail(path, expression.error().message, expression.error().offset);
    const Checked<double> value = expression->real(real_axes_);
    if (!value) return fail(path, value.error().message, value.error().offset);
    *out = *value;
    return true;
  }

  bool resolve_shape(const TensorDefinition& definition, const std::string& path,
                     ResolvedTensor* tensor) {
    tensor->name = definition.name;
    tensor->dtype = definition.dtype;
    tensor->elements = 1;
    for (std::size_t i = 0; i < definition.shape.size(); ++i) {
      const std::string dimension = path + ".shape[" + std::to_string(i) + "]";
      std::int64_t size = 0;
      if (!integer(definition.shape[i], dimension, &size)) return false;
      if (size < 1) {
        return fail(dimension,
                    "the dimension is " + std::to_string(size) + "; it must be positive");
      }
      if (size > kMaxElements / tensor->elements)
        return fail(dimension, "the tensor has too many elements");
      tensor->shape.push_back(size);
      tensor->elements *= size;
    }
    return true;
  }

  bool resolve_values(const TensorDefinition& definition, const std::string& path,
                      ResolvedTensor* tensor) {
    tensor->values = definition.values;
    tensor->structure = definition.structure;
    const auto& d = definition;
    return (d.mean.empty() || real(d.mean, path + ".mean", &tensor->low)) &&
           (d.deviation.empty() || positive(d.deviation, path + ".deviation", &tensor->high)) &&
           (d.probability.empty() ||
            probability(d.probability, path + ".probability", &tensor->high)) &&
           resolve_bounds(d, path, tensor);
  }

  bool resolve_bounds(const TensorDefinition& definition, const std::string& path,
                      ResolvedTensor* tensor) {
    if (definition.bounds.size() != 2) return true;
    if (!real(definition.bounds[0], path + ".bounds[0]", &tensor->low)) return false;
    if (!real(definition.bounds[1], path + ".bounds[1]", &tensor->high)) return false;
    if (tensor->low >= tensor->high)
      return fail(path + ".bounds", "the first bound must be below the second");
    return true;
  }

  bool resolve_inputs() {
    for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
      ResolvedTensor tensor;
      tensor.is_input = true;
      const std::string path = element("input", i);
      if (!resolve_shape(task_.inputs[i], path, &tensor)) return false;
      if (!resolve_values(task_.inputs[i], path, &tensor)) return false;
      case_.tensors.push_back(std::move(tensor));
    }
    return true;
  }

  bool resolve_scalars() {
    for (std::size_t i = 0; i < task_.scalars.size(); ++i) {
      const ScalarDefinition& definition = task_.scalars[i];
      const std::string path = element("scalar", i) + ".value";
      ResolvedScalar scalar{definition.name, definition.dtype, 0, 0};
      if (is_floating(definition.dtype)) {
        if (!real(definition.value, path, &scalar.real)) return false;
      } else {
        if (!integer(definition.value, path, &scalar.integer)) return false;
        scalar.real = static_cast<double>(scalar.integer);
      }
      case_.scalars.push_back(std::move(scalar));
    }
    return true;
  }

  bool resolve_outputs() {
    for (std::size_t i = 0; i < task_.outputs.size(); ++i) {
      const TensorDefinition& definition = task_.outputs[i];
      const std::string path = element("output", i);
      ResolvedTensor tensor;
      tensor.is_output = true;
      if (!resolve_shape(definition, path, &tensor)) return false;
      const auto same_name = [&](const ResolvedTensor& other) {
        return other.name == definition.name;
      };
      const auto in_place = std::find_if(case_.tensors.begin(), case_.tensors.end(), same_name);
      if (in_place == case_.tensors.end()) {
        case_.tensors.push_back(std::move(tensor));
        continue;
      }
      if (in_place->shape != tensor.shape || in_place->dtype != tensor.dtype) {
        return fail(path, "'" + definition.name + "' is also an input, of another type or shape");
      }
      in_place->is_output = true;
    }
    return true;
  }

  bool resolve_work() {
    const WorkDefinition& work = task_.work;
    for (const ResolvedTensor& tensor : case_.tensors) {
      const int times = (tensor.is_input ? 1 : 0) + (tensor.is_output ? 1 : 0);
      case_.least_bytes += times * static_cast<double>(tensor.bytes());
    }
    if (!work.bytes.empty() && !positive(work.bytes, "work.bytes", &case_.least_bytes))
      return false;
    return work.operations.empty() ||
           positive(work.operations, "work.operations", &case_.operations);
  }

  bool resolve_terms() {
    const std::string& terms = task_.tolerance.terms;
    return terms.empty() || positive(terms, "tolerance.terms", &case_.terms);
  }

  bool positive(const std::string& text, const std::string& path, double* out) {
    if (!real(text, path, out)) return false;
    if (*out > 0) return true;
    return fail(path, "it is " + std::to_string(*out) + "; it must be positive");
  }

  bool probability(const std::string& text, const std::string& path, double* out) {
    if (!real(text, path, out)) return false;
    if (*out >= 0 && *out <= 1) return true;
    return fail(path, "it is " + std::to_string(*out) + "; it must be from 0 to 1");
  }

  const TaskDefinition& task_;
  const IntegerNames& values_;
  ResolvedCase case_;
  RealNames real_axes_;
  DefinitionProblem problem_;
};

inline Checked<ResolvedCase, DefinitionProblem> resolve_case(const TaskDefinition& task,
                                                             const IntegerNames& values) {
  return CaseResolver(task, values).resolve();
}

}  // namespace krl
