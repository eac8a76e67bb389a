#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "family_texts.hpp"
#include "mechanism_texts.hpp"
#include "plugins/datasets/tasks/toml_document.hpp"
#include "plugins/datasets/templates/family.hpp"
#include "plugins/datasets/templates/reduction_text.hpp"
#include "plugins/datasets/templates/task_families.hpp"
#include "proposed_texts.hpp"
#include "triton_texts.hpp"

namespace krl::templates {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, NameKind>, 4> kAxisKinds = {
    {{"length", NameKind::kLength},
     {"rows", NameKind::kRows},
     {"columns", NameKind::kColumns},
     {"inner", NameKind::kInner}}};

constexpr std::array<std::pair<std::string_view, Reduce>, 3> kReductions = {
    {{"sum", Reduce::kSum}, {"max", Reduce::kMax}, {"min", Reduce::kMin}}};

// Leaves `value` as it is where the key is missing.
template <class T>
void read(const ordered_json& table, const char* key, T& value) {
  if (const auto found = table.find(key); found != table.end()) found->get_to(value);
}

template <class Names, class Value>
void read_word(const ordered_json& table, const char* key, const Names& names, Value& value) {
  if (!table.contains(key)) return;
  const std::string word = table.at(key);
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& name) { return name.first == word; });
  if (found == names.end()) throw std::runtime_error(std::string(key) + " is '" + word + "'");
  value = found->second;
}

// A role's canonical name is the role itself unless `names` has another.
std::string canonical_name(const ordered_json& operation, const std::string& role) {
  return operation.value("names", ordered_json::object()).value(role, role);
}

std::vector<TensorRole> tensors_of(const ordered_json& operation, const char* key) {
  std::vector<TensorRole> tensors;
  for (const ordered_json& table : operation.at(key)) {
    TensorRole& tensor = tensors.emplace_back();
    table.at("role").get_to(tensor.role);
    tensor.name = canonical_name(operation, tensor.role);
    read(table, "shape", tensor.shape);
    read_word(table, "dtype", kDTypes, tensor.dtype);
    read_word(table, "values", kValueKinds, tensor.values);
    read(table, "bounds", tensor.bounds);
  }
  return tensors;
}

void read_axes(const ordered_json& table, Operation& operation) {
  for (const ordered_json& given : table.at("axes")) {
    AxisRole& axis = operation.axes.emplace_back();
    given.at("role").get_to(axis.role);
    axis.name = canonical_name(table, axis.role);
    read_word(given, "kind", kAxisKinds, axis.kind);
    read(given, "size", axis.size);
    read(given, "passed", axis.passed);
    read(given, "step", axis.step);
  }
}

// `returns` is the expression of a reference that has no more than that.
std::string reference_of(const ordered_json& table, const Operation& operation) {
  if (table.contains("reference")) return table.at("reference");
  std::string parameters;
  for (const TensorRole& input : operation.inputs)
    parameters += (parameters.empty() ? "" : ", ") + input.role;
  for (const ScalarRole& scalar : operation.scalars) parameters += ", " + scalar.role + ": float";
  return "def run(" + parameters + "):\n    return " + table.at("returns").get<std::string>() +
         "\n";
}

// The expressions of an element at `index`, and of each of the four in vectors v0, v1.
void add_element_texts(const std::string& formula, Operation& operation) {
  const auto value_at = [&](const std::string& e0, const std::string& e1) {
    return substitute(formula, {{"e0", e0}, {"e1", e1}});
  };
  const std::string vector = operation.inputs[0].dtype == DType::kInt32 ? "int4" : "float4";
  std::string components, loads;
  for (const char* member : {".x", ".y", ".z", ".w"}) {
    components += (components.empty() ? "" : ", ") +
                  value_at(std::string("v0") + member, std::string("v1") + member);
  }
  for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
    const std::string number = std::to_string(k);
    loads +=
        "    " + vector + " v" + number + " = ((const " + vector + "*)$x" + number + ")[$i];\n";
  }
  operation.parts = {{"type", operation.inputs[0].dtype == DType::kInt32 ? "int" : "float"},
                     {"vector", vector},
                     {"loads", loads},
                     {"components", components},
                     {"value", value_at("$x0[$i]", "$x1[$i]")},
                     {"value_j", value_at("$x0[j]", "$x1[j]")}};
}

void read_parts(const ordered_json& table, Operation& operation) {
  if (table.contains("formula")) add_element_texts(table.at("formula"), operation);
  if (table.contains("reduce")) {
    Reduce reduce{};
    read_word(table, "reduce", kReductions, reduce);
    operation.parts = reduction_parts(reduce, table.at("element"));
  }
  if (!table.contains("parts")) return;
  for (const auto& [name, text] : table.at("parts").items()) operation.parts[name] = text;
}

Operation operation_of(const ordered_json& table) {
  Operation operation;
  table.at("id").get_to(operation.id);
  table.at("title").get_to(operation.title);
  table.at("prompt").get_to(operation.prompt);
  read(table, "tier", operation.tier);
  read(table, "canonical", operation.canonical);
  read_axes(table, operation);
  operation.inputs = tensors_of(table, "inputs");
  operation.outputs = tensors_of(table, "outputs");
  if (table.contains("scalars")) {
    for (const ordered_json& scalar : table.at("scalars")) {
      const std::string role = scalar.at("role");
      operation.scalars.push_back({role, canonical_name(table, role), scalar.at("value")});
    }
  }
  operation.reference = reference_of(table, operation);
  read(table, "cases", operation.cases);
  read(table, "real", operation.real);
  if (const auto tolerance = table.find("tolerance"); tolerance != table.end()) {
    operation.tolerance = {tolerance->at(0), tolerance->at(1),
                           tolerance->size() > 2 ? tolerance->at(2).get<std::string>() : ""};
  }
  read_parts(table, operation);
  return operation;
}

// Choices and texts that all variants with mechanisms may use (mechanisms.toml).
struct Shared {
  Choices choices;
  Scope parts;
};

std::vector<std::string> values_of(const ordered_json& list) {
  std::vector<std::string> values;
  for (const ordered_json& value : list)
    values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  return values;
}

const Shared& shared() {
  static const Shared read = [] {
    const tasks::TomlResult file = tasks::parse_toml(mechanism_texts);
    if (file.error) throw std::runtime_error("mechanisms.toml: " + file.error->message);
    Shared all;
    for (const auto& [name, values] : file.document.json.at("choices").items())
      all.choices[name] = values_of(values);
    for (const auto& [name, text] : file.document.json.at("parts").items()) all.parts[name] = text;
    return all;
  }();
  return read;
}

// Adds the shared choices of the placeholders that have none.
void complete(Variant& variant) {
  for (const auto& [name, values] : shared().choices) {
    if (variant.source.find("$" + name) != std::string::npos)
      variant.choices.insert({name, values});
  }
}

Variant variant_of(const ordered_json& table) {
  Variant variant;
  table.at("name").get_to(variant.name);
  table.at("thought").get_to(variant.thought);
  table.at("source").get_to(variant.source);
  read(table, "weight", variant.weight);
  read(table, "mechanisms", variant.mechanisms);
  read(table, "operations", variant.operations);
  if (table.contains("choices")) {
    for (const auto& [placeholder, values] : table.at("choices").items()) {
      variant.choices[placeholder] =
          values.is_string() ? shared().choices.at(values.get<std::string>()) : values_of(values);
    }
  }
  if (!variant.mechanisms.empty()) complete(variant);
  return variant;
}

// Gives a family the mechanisms of the one that it names.
void borrow(const std::string& from, const std::vector<Family>& families, Family& family) {
  const auto lender = std::find_if(families.begin(), families.end(),
                                   [&](const Family& other) { return other.name == from; });
  if (lender == families.end()) throw std::runtime_error("no family '" + from + "'");
  for (const Variant& variant : lender->variants) {
    if (!variant.mechanisms.empty()) family.variants.push_back(variant);
  }
}

// `file_text`: the name of a file in families/, and after a line break its text. Returns the name
// without its extension, and what is in it.
std::pair<std::string, ordered_json> read_file(const std::string& file_text) {
  const std::size_t line = file_text.find('\n');
  const std::string name = file_text.substr(0, file_text.rfind('.', line));
  tasks::TomlResult parsed = tasks::parse_toml(file_text.substr(line + 1));
  if (parsed.error) throw std::runtime_error(name + ".toml: " + parsed.error->message);
  return {name, std::move(parsed.document.json)};
}

Family read_family(const std::string& file_text) {
  const auto [name, file] = read_file(file_text);
  Family family{name, {}, {}};
  read(file, "only_with_mechanisms", family.only_with_mechanisms);
  read(file, "mechanisms_of", family.mechanisms_of);
  for (const ordered_json& own : file.value("operation", ordered_json::array())) {
    ordered_json table = file.value("base", ordered_json::object());
    if (own.contains("base")) table = table.at(own.at("base").get<std::string>());
    table.merge_patch(own);
    family.operations.push_back(operation_of(table));
  }
  for (Operation& operation : family.operations)
    operation.parts.insert(shared().parts.begin(), shared().parts.end());
  for (const ordered_json& table : file.at("variant")) family.variants.push_back(variant_of(table));
  return family;
}

std::vector<Family> make_families() {
  std::vector<Family> families;
  std::set<std::string> taken;
  for (const char* text : family_texts) {
    families.push_back(read_family(text));
    for (const Operation& operation : families.back().operations) taken.insert(operation.id);
  }
  for (Family& family : families) {
    if (!family.mechanisms_of.empty()) borrow(family.mechanisms_of, families, family);
  }
  for (Family& family : task_families(taken)) families.push_back(std::move(family));
  return families;
}

}  // namespace

const std::vector<Family>& all_families() {
  static const std::vector<Family> families = make_families();
  return families;
}

std::vector<Family> triton_families() {
  std::vector<Family> families;
  for (const char* text : triton_texts) {
    const auto [name, file] = read_file(text);
    const auto in_cuda = std::find_if(all_families().begin(), all_families().end(),
                                      [&](const Family& family) { return family.name == name; });
    if (in_cuda == all_families().end()) throw std::runtime_error("no family '" + name + "'");
    Family& family = families.emplace_back(Family{name, {}, {}});
    const ordered_json& parts = file.at("parts");
    for (Operation operation : in_cuda->operations) {
      if (!parts.contains(operation.id)) continue;
      parts.at(operation.id).get_to(operation.parts);
      family.operations.push_back(std::move(operation));
    }
    for (const ordered_json& table : file.at("variant"))
      family.variants.push_back(variant_of(table));
  }
  return families;
}

std::vector<Family> proposed_families() {
  std::vector<Family> families;
  for (const char* text : proposed_texts) families.push_back(read_family(text));
  return families;
}

}  // namespace krl::templates
