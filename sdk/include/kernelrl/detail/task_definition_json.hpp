// Task definitions to and from JSON; see task_definition.hpp, which includes this.
#pragma once

#include <cctype>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/expression.hpp>
#include <kernelrl/spelling.hpp>
#include <kernelrl/task_definition.hpp>

namespace krl {

namespace detail {  // axis_ranges_json.hpp
// NOLINTBEGIN(readability-redundant-declaration): not yet where this header comes first
inline void read_axis_ranges(const nlohmann::ordered_json& json, ReadDefinition& definition);
inline nlohmann::ordered_json to_json(const AxisRange& range);
// NOLINTEND(readability-redundant-declaration)
}  // namespace detail

// Reads a definition and lists its problems.
class TaskDefinitionReader {
 public:
  using Json = nlohmann::ordered_json;

  ReadDefinition read(const Json& json) {
    if (!json.is_object()) {
      problem("", "a task definition must be a table");
      return std::move(result_);
    }
    check_keys(
        json, "",
        {"id", "tier", "title", "prompt", "axes", "input", "scalar", "output", "reference", "naive",
         "cases", "real", "holdout", "ranges", "tolerance", "work", "forbid", "origin"});
    read_heading(json);
    read_axes(json);
    read_tensors(json, "input", &task().inputs);
    read_scalars(json);
    read_tensors(json, "output", &task().outputs);
    if (task().outputs.empty()) problem("", "the task has no output: add an [[output]] table");
    read_texts(json);
    read_cases(json, "cases", &task().cases);
    read_cases(json, "real", &task().real);
    read_cases(json, "holdout", &task().holdout);
    detail::read_axis_ranges(json, result_);
    if (task().cases.empty()) problem("", "the task has no cases: add cases = [{ … }]");
    read_tolerance(json);
    read_work(json);
    read_origin(json);
    check_names();
    if (result_.problems.empty()) check_cases();
    return std::move(result_);
  }

 private:
  TaskDefinition& task() { return result_.task; }

  void problem(std::string path, std::string message, std::size_t offset = 0, bool at_key = false) {
    result_.problems.push_back({std::move(path), std::move(message), offset, at_key});
  }

  static std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }
  static std::string element(const std::string& path, std::size_t index) {
    return path + "[" + std::to_string(index) + "]";
  }

  void check_keys(const Json& table, const std::string& path,
                  const std::vector<std::string>& known) {
    for (const auto& entry : table.items()) {
      if (std::find(known.begin(), known.end(), entry.key()) != known.end()) continue;
      problem(join(path, entry.key()),
              "unknown key '" + entry.key() + "'" + did_you_mean(entry.key(), known), 0, true);
    }
  }

  // The member `key` if it is there and a string; a missing one is a problem if it is required.
  const std::string* text(const Json& table, const std::string& path, const char* key,
                          bool required) {
    const auto found = table.find(key);
    if (found == table.end()) {
      if (required) problem(path, "'" + std::string(key) + "' is missing");
      return nullptr;
    }
    if (!found->is_string()) {
      problem(join(path, key), "'" + std::string(key) + "' must be a string");
      return nullptr;
    }
    return found->get_ptr<const std::string*>();
  }

  // The member `key` if it is there and an array.
  const Json* list(const Json& table, const std::string& path, const char* key) {
    const auto found = table.find(key);
    if (found == table.end()) return nullptr;
    if (found->is_array()) return &*found;
    problem(join(path, key), "'" + std::string(key) + "' must be an array");
    return nullptr;
  }

  void read_heading(const Json& json) {
    if (const std::string* id = text(json, "", "id", true)) {
      task().id = *id;
      const auto allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
      };
      if (id->empty() || id->size() > 128 || !std::all_of(id->begin(), id->end(), allowed)) {
        problem("id", "an id is 1 to 128 letters, digits, '_', '-', '.' and '/'");
      }
    }
    if (const auto tier = json.find("tier"); tier != json.end()) {
      if (tier->is_number_integer() && tier->get<std::int64_t>() >= 0 &&
          tier->get<std::int64_t>() <= 9) {
        task().tier = tier->get<std::int64_t>();
      } else {
        problem("tier", "'tier' must be an integer from 0 to 9");
      }
    }
    const std::string* title = text(json, "", "title", false);
    task().title = title ? *title : task().id;
    if (const std::string* prompt = text(json, "", "prompt", true)) task().prompt = *prompt;
  }

  bool is_identifier(const std::string& name) const {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !name.empty() && name.size() <= 64 &&
           std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           std::all_of(name.begin(), name.end(), allowed);
  }

  void read_axes(const Json& json) {
    const auto axes = json.find("axes");
    if (axes == json.end()) return problem("", "'axes' is missing");
    if (!axes->is_object())
      return problem("axes", "'axes' must be a table: axes = { n = \"var\" }");
    for (const auto& entry : axes->items()) {
      const std::string path = "axes." + entry.key();
      Axis axis{entry.key(), {}};
      if (!is_identifier(axis.name))
        problem(path, "an axis needs a C++ identifier as its name", 0, true);
      if (entry.value().is_number_integer()) {
        axis.size = entry.value().dump();
      } else if (!entry.value().is_string() || entry.value() == "") {
        problem(path, "an axis is \"var\", an integer, or an expression of the axes before it");
        continue;
      } else if (entry.value() != "var") {
        axis.size = entry.value().get<std::string>();
        check_expression(axis.size, path);
      }
      task().axes.push_back(std::move(axis));
    }
  }

  // Checks that `text` can be parsed and names only axes read so far.
  void check_expression(const std::string& text, const std::string& path) {
    const Checked<Expression> expression = Expression::parse(text);
    if (!expression) return problem(path, expression.error().message, expression.error().offset);
    std::vector<std::string> known;
    for (const Axis& axis : task().axes) known.push_back(axis.name);
    for (const Expression::NameUse& use : expression->names()) {
      if (std::find(known.begin(), known.end(), use.name) != known.end()) continue;
      problem(path, "unknown axis '" + use.name + "'" + did_you_mean(use.name, known), use.offset);
    }
  }

  // An expression, given as text or as a number.
  std::string expression(const Json& value, const std::string& path) {
    if (value.is_number()) return value.dump();
    if (!value.is_string()) {
      problem(path, "expected an expression or a number");
      return "1";
    }
    std::string text = value.get<std::string>();
    check_expression(text, path);
    return text;
  }

  template <class Enum, std::size_t N>
  void read_choice(const Json& table, const std::string& path, const char* key, bool required,
                   const std::array<std::pair<std::string_view, Enum>, N>& choices, Enum* out) {
    const std::string* name = text(table, path, key, required);
    if (!name) return;
    std::vector<std::string> known;
    for (const auto& [choice, value] : choices) {
      known.emplace_back(choice);
      if (choice != *name) continue;
      *out = value;
      return;
    }
    problem(join(path, key),
            "unknown " + std::string(key) + " '" + *name + "'" + did_you_mean(*name, known));
  }

  void read_tensors(const Json& json, const char* key, std::vector<TensorDefinition>* out) {
    const Json* tensors = list(json, "", key);
    if (!tensors) return;
    const bool input = std::string_view(key) == "input";
    for (std::size_t i = 0; i < tensors->size(); ++i) {
      const Json& table = (*tensors)[i];
      const std::string path = element(key, i);
      TensorDefinition tensor;
      if (!table.is_object()) {
        problem(path, "expected a table");
        continue;
      }
      check_keys(table, path,
                 input ? std::vector<std::string>{"name", "dtype", "shape", "values", "bounds",
                                                  "mean", "deviation", "probability", "structure"}
                       : std::vector<std::string>{"name", "dtype", "shape"});
      if (const std::string* name = text(table, path, "name", true)) tensor.name = *name;
      read_choice(table, path, "dtype", true, kDTypes, &tensor.dtype);
      read_shape(table, path, &tensor);
      if (input) read_values(table, path, &tensor);
      if (input) read_structure(table, path, &tensor);
      out->push_back(std::move(tensor));
    }
  }

  void read_shape(const Json& table, const std::string& path, TensorDefinition* tensor) {
    constexpr std::size_t kMaxRank = 8;
    const Json* shape = list(table, path, "shape");
    if (!shape && table.find("shape") == table.end()) problem(path, "'shape' is missing");
    if (!shape) return;
    if (shape->empty() || shape->size() > kMaxRank)
      problem(path + ".shape", "a tensor has 1 to 8 dimensions");
    for (std::size_t i = 0; i < shape->size(); ++i) {
      tensor->shape.push_back(expression((*shape)[i], element(path + ".shape", i)));
    }
  }

  void read_values(const Json& table, const std::string& path, TensorDefinition* tensor) {
    if (!is_floating(tensor->dtype)) tensor->values = ValueKind::kIntegers;
    read_choice(table, path, "values", false, kValueKinds, &tensor->values);
    const bool real_only = tensor->values == ValueKind::kNormal ||
                           tensor->values == ValueKind::kUniform ||
                           tensor->values == ValueKind::kUniformSigned;
    if (real_only && !is_floating(tensor->dtype)) {
      problem(path + ".values", "'" + std::string(name_of(tensor->values)) + "' is not for " +
                                    std::string(name_of(tensor->dtype)) +
                                    "; use \"integers\" with bounds");
    }
    read_bounds(table, path, tensor);
    const bool normal = tensor->values == ValueKind::kNormal;
    const bool likely =
        tensor->values == ValueKind::kBernoulli || tensor->values == ValueKind::kFlags;
    read_parameter(table, path, "mean", normal, "normal", &tensor->mean);
    read_parameter(table, path, "deviation", normal, "normal", &tensor->deviation);
    read_parameter(table, path, "probability", likely, "bernoulli", &tensor->probability);
    if (likely && table.find("probability") == table.end()) {
      problem(path, std::string(name_of(tensor->values)) +
                        (tensor->values == ValueKind::kFlags ? " need" : " needs") +
                        " the probability of a 1: probability = 0.1");
    }
  }

  void read_bounds(const Json& table, const std::string& path, TensorDefinition* tensor) {
    const ValueKind kind = tensor->values;
    const bool whole = kind == ValueKind::kIntegers || in_order(kind);
    if (in_order(kind) && tensor->dtype != DType::kInt32 && tensor->dtype != DType::kInt64)
      problem(path + ".values", "'" + std::string(name_of(kind)) + "' is for int32 and int64");
    if (const Json* bounds = list(table, path, "bounds")) {
      if (kind != ValueKind::kUniform && !whole)
        problem(path + ".bounds", "'" + std::string(name_of(kind)) + "' has no bounds", 0, true);
      if (bounds->size() != 2)
        problem(path + ".bounds", "bounds are two numbers, the second excluded: [\"0\", \"n\"]");
      for (std::size_t i = 0; i < bounds->size(); ++i) {
        tensor->bounds.push_back(expression((*bounds)[i], element(path + ".bounds", i)));
      }
    } else if (whole && table.find("bounds") == table.end()) {
      problem(path, std::string(name_of(kind)) + (kind == ValueKind::kSorted ? " needs" : " need") +
                        " bounds = [\"0\", \"9\"]" +
                        (kind == ValueKind::kOffsets ? "" : ", the second excluded"));
    }
  }

  static bool in_order(ValueKind kind) {
    return kind == ValueKind::kSorted || kind == ValueKind::kOffsets;
  }

  void read_parameter(const Json& table, const std::string& path, const char* key, bool has_it,
                      const char* kind, std::string* out) {
    const auto value = table.find(key);
    if (value == table.end()) return;
    if (!has_it) {
      problem(join(path, key), std::string("only \"") + kind + "\" has a " + key, 0, true);
    }
    *out = expression(*value, join(path, key));
  }

  void read_structure(const Json& table, const std::string& path, TensorDefinition* tensor) {
    read_choice(table, path, "structure", false, kStructures, &tensor->structure);
    if (tensor->structure == Structure::kGeneral) return;
    const auto& shape = tensor->shape;
    if (shape.size() < 2 || shape.back() != shape[shape.size() - 2])
      problem(path + ".structure", "its last two axes must be the same: a square matrix");
    if (tensor->values == ValueKind::kPermutation || tensor->values == ValueKind::kOneHot ||
        in_order(tensor->values))
      problem(path + ".structure", "rows are drawn as a whole, so they have none", 0, true);
  }

  void read_scalars(const Json& json) {
    const Json* scalars = list(json, "", "scalar");
    if (!scalars) return;
    for (std::size_t i = 0; i < scalars->size(); ++i) {
      const Json& table = (*scalars)[i];
      const std::string path = element("scalar", i);
      ScalarDefinition scalar;
      if (!table.is_object()) {
        problem(path, "expected a table");
        continue;
      }
      check_keys(table, path, {"name", "dtype", "value"});
      if (const std::string* name = text(table, path, "name", true)) scalar.name = *name;
      read_choice(table, path, "dtype", true, kDTypes, &scalar.dtype);
      const DType type = scalar.dtype;
      if (type != DType::kFloat32 && type != DType::kInt32 && type != DType::kInt64) {
        problem(path + ".dtype", "a scalar is float32, int32 or int64");
      }
      const auto value = table.find("value");
      if (value == table.end()) problem(path, "'value' is missing");
      if (value != table.end()) scalar.value = expression(*value, path + ".value");
      task().scalars.push_back(std::move(scalar));
    }
  }

  void read_texts(const Json& json) {
    if (const std::string* reference = text(json, "", "reference", true)) {
      task().reference = *reference;
      if (reference->find("def run(") == std::string::npos) {
        problem("reference", "the reference must define `def run(…)`");
      }
    }
    if (const std::string* naive = text(json, "", "naive", false)) task().naive = *naive;
    const Json* forbid = list(json, "", "forbid");
    for (std::size_t i = 0; forbid && i < forbid->size(); ++i) {
      if ((*forbid)[i].is_string()) {
        task().forbid.push_back((*forbid)[i].get<std::string>());
      } else {
        problem(element("forbid", i), "expected an identifier as a string");
      }
    }
  }

  void read_cases(const Json& json, const char* key, std::vector<IntegerNames>* out) {
    const Json* cases = list(json, "", key);
    std::vector<std::string> variables;
    for (const Axis& axis : task().axes) {
      if (axis.is_variable()) variables.push_back(axis.name);
    }
    for (std::size_t i = 0; cases && i < cases->size(); ++i) {
      const std::string path = element(key, i);
      if ((*cases)[i].is_object()) {
        out->push_back(read_case((*cases)[i], path, variables));
      } else {
        problem(path, "expected a table of axes: { n = 1000 }");
      }
    }
  }

  IntegerNames read_case(const Json& table, const std::string& path,
                         const std::vector<std::string>& variables) {
    IntegerNames values;
    for (const auto& entry : table.items()) {
      const std::string at = join(path, entry.key());
      if (std::find(variables.begin(), variables.end(), entry.key()) == variables.end()) {
        problem(
            at,
            "'" + entry.key() + "' is not a variable axis" + did_you_mean(entry.key(), variables),
            0, true);
      } else if (!entry.value().is_number_integer() || entry.value().get<std::int64_t>() < 1) {
        problem(at, "the size of an axis must be a positive integer");
      } else {
        values[entry.key()] = entry.value().get<std::int64_t>();
      }
    }
    for (const std::string& axis : variables) {
      if (table.find(axis) == table.end())
        problem(path, "the case gives no value to axis '" + axis + "'");
    }
    return values;
  }

  void read_tolerance(const Json& json) {
    const auto tolerance = json.find("tolerance");
    if (tolerance == json.end()) return;
    if (!tolerance->is_object())
      return problem("tolerance", "'tolerance' must be a table: { rtol = 1e-5, atol = 1e-6 }");
    check_keys(*tolerance, "tolerance", {"rtol", "atol", "terms"});
    if (const std::string* terms = text(*tolerance, "tolerance", "terms", false))
      task().tolerance.terms = *terms;
    for (const auto& [key, out] :
         {std::pair("rtol", &task().tolerance.rtol), std::pair("atol", &task().tolerance.atol)}) {
      const auto value = tolerance->find(key);
      if (value == tolerance->end()) continue;
      if (value->is_number() && value->get<double>() >= 0 && value->get<double>() < 1e9) {
        *out = value->get<double>();
      } else {
        problem(std::string("tolerance.") + key, "expected a number that is not negative");
      }
    }
  }

  void read_work(const Json& json) {
    const auto work = json.find("work");
    if (work == json.end()) return;
    if (!work->is_object())
      return problem("work", "'work' must be a table: { operations = \"2 * m * n * k\" }");
    check_keys(*work, "work", {"bytes", "operations"});
    for (const auto& [key, out] : {std::pair("bytes", &task().work.bytes),
                                   std::pair("operations", &task().work.operations)}) {
      if (const std::string* expression = text(*work, "work", key, false)) *out = *expression;
    }
  }

  void read_origin(const Json& json) {
    const auto origin = json.find("origin");
    if (origin == json.end()) return;
    if (!origin->is_object()) return problem("origin", "'origin' must be a table");
    if (const std::string* file = text(*origin, "origin", "file", false))
      task().origin.file = *file;
    const auto positions = origin->find("positions");
    if (positions == origin->end() || !positions->is_object()) return;
    for (const auto& entry : positions->items()) {
      const Json& at = entry.value();
      if (at.is_array() && at.size() == 2 && at[0].is_number_integer() &&
          at[1].is_number_integer()) {
        task().origin.positions[entry.key()] = {at[0].get<int>(), at[1].get<int>()};
      } else {
        problem("origin.positions." + entry.key(), "expected [line, column]");
      }
    }
  }

  // Tensors, scalars and axes share one namespace, since launch directives name them all.
  void check_names() {
    std::set<std::string> taken;
    for (const Axis& axis : task().axes) taken.insert(axis.name);
    const auto check = [&](const std::string& name, const std::string& path) {
      if (name.empty()) return;
      if (!is_identifier(name)) {
        problem(path + ".name", "'" + name + "' is not a C++ identifier");
      } else if (!taken.insert(name).second) {
        problem(path + ".name", "the name '" + name + "' is taken");
      }
    };
    for (std::size_t i = 0; i < task().inputs.size(); ++i)
      check(task().inputs[i].name, element("input", i));
    for (std::size_t i = 0; i < task().scalars.size(); ++i)
      check(task().scalars[i].name, element("scalar", i));
    std::set<std::string> in_place;
    for (std::size_t i = 0; i < task().outputs.size(); ++i) {
      const std::string& name = task().outputs[i].name;
      const bool first_use_of_input = task().find_input(name) && in_place.insert(name).second;
      if (!first_use_of_input) check(name, element("output", i));
    }
  }

  void check_cases() {
    for (const auto& [key, cases] :
         {std::pair("cases", &task().cases), std::pair("real", &task().real),
          std::pair("holdout", &task().holdout)}) {
      for (std::size_t i = 0; i < cases->size(); ++i) {
        const auto resolved = resolve_case(task(), (*cases)[i]);
        if (resolved) continue;
        const DefinitionProblem& found = resolved.error();
        problem(found.path, found.message + " (in " + element(key, i) + ")", found.offset);
      }
    }
  }

  ReadDefinition result_;
};

inline ReadDefinition read_task_definition(const nlohmann::ordered_json& json) {
  return TaskDefinitionReader().read(json);
}

inline Checked<TaskDefinition, std::string> parse_task_definition(std::string_view json_text) {
  const auto json = nlohmann::ordered_json::parse(json_text, nullptr, false);
  if (json.is_discarded()) return std::string("the task definition is not valid JSON");
  ReadDefinition read = read_task_definition(json);
  if (read.problems.empty()) return std::move(read.task);
  std::string all;
  for (const DefinitionProblem& problem : read.problems) {
    all += (all.empty() ? "" : "\n") + (problem.path.empty() ? "" : problem.path + ": ") +
           problem.message;
  }
  return all;
}

namespace detail {

inline nlohmann::ordered_json to_json(const TensorDefinition& tensor, bool input) {
  nlohmann::ordered_json json = {
      {"name", tensor.name}, {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}};
  if (input) json["values"] = name_of(tensor.values);
  if (input && !tensor.bounds.empty()) json["bounds"] = tensor.bounds;
  if (input && !tensor.mean.empty()) json["mean"] = tensor.mean;
  if (input && !tensor.deviation.empty()) json["deviation"] = tensor.deviation;
  if (input && !tensor.probability.empty()) json["probability"] = tensor.probability;
  if (input && tensor.structure != Structure::kGeneral)
    json["structure"] = name_of(tensor.structure);
  return json;
}

inline nlohmann::ordered_json to_json(const TaskOrigin& origin) {
  nlohmann::ordered_json json = {{"file", origin.file}};
  for (const auto& [key, at] : origin.positions) json["positions"][key] = {at.line, at.column};
  return json;
}

}  // namespace detail

inline nlohmann::ordered_json to_json(const TaskDefinition& task) {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"id", task.id}, {"tier", task.tier}, {"title", task.title}, {"prompt", task.prompt}};
  json["axes"] = Json::object();
  for (const Axis& axis : task.axes)
    json["axes"][axis.name] = axis.is_variable() ? "var" : axis.size;
  for (const TensorDefinition& tensor : task.inputs)
    json["input"].push_back(detail::to_json(tensor, true));
  for (const ScalarDefinition& scalar : task.scalars) {
    json["scalar"].push_back(
        {{"name", scalar.name}, {"dtype", name_of(scalar.dtype)}, {"value", scalar.value}});
  }
  for (const TensorDefinition& tensor : task.outputs)
    json["output"].push_back(detail::to_json(tensor, false));
  json["reference"] = task.reference;
  if (!task.naive.empty()) json["naive"] = task.naive;
  json["cases"] = task.cases;
  if (!task.real.empty()) json["real"] = task.real;
  if (!task.holdout.empty()) json["holdout"] = task.holdout;
  for (const AxisRange& range : task.ranges) json["ranges"][range.axis] = detail::to_json(range);
  json["tolerance"] = {{"rtol", task.tolerance.rtol}, {"atol", task.tolerance.atol}};
  if (!task.tolerance.terms.empty()) json["tolerance"]["terms"] = task.tolerance.terms;
  if (!task.work.bytes.empty()) json["work"]["bytes"] = task.work.bytes;
  if (!task.work.operations.empty()) json["work"]["operations"] = task.work.operations;
  if (!task.forbid.empty()) json["forbid"] = task.forbid;
  if (!task.origin.file.empty()) json["origin"] = detail::to_json(task.origin);
  return json;
}

}  // namespace krl
