#include "core/plan/json_schema.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "core/plan/node.hpp"
#include "core/plan/schema.hpp"

namespace krl::core {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Kind> kind_named(std::string_view table) {
  for (const Kind kind : {Kind::kPolicy, Kind::kBackend, Kind::kReward, Kind::kDataset}) {
    if (name_of(kind) == table) return kind;
  }
  return std::nullopt;
}

Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

Json type_of(const KeyRule& key) {
  switch (key.type) {
    case ValueType::kBool:
      return {{"type", "boolean"}};
    case ValueType::kInteger:
      return {{"type", "integer"}};
    case ValueType::kFloat:
      return {{"type", "number"}};
    case ValueType::kString:
    case ValueType::kPath:
      return {{"type", "string"}};
    case ValueType::kStrings:
    case ValueType::kPaths:
      return list_of({{"type", "string"}});
    case ValueType::kArray:
    case ValueType::kTables:
      return {{"type", "array"}};
    case ValueType::kTable:
      return {{"type", "object"}};
  }
  return Json::object();
}

void add_range(const KeyRule& key, Json& schema) {
  if (const auto choices = choices_of(key.range); !choices.empty()) schema["enum"] = choices;
  if (!is_interval(key.range)) return;
  const std::size_t dots = key.range.find("..");
  const std::string low = key.range.substr(0, dots), high = key.range.substr(dots + 2);
  if (!low.empty()) schema["minimum"] = std::strtod(low.c_str(), nullptr);
  if (!high.empty()) schema["maximum"] = std::strtod(high.c_str(), nullptr);
}

Json schema_of(const KeyRule& key) {
  Json schema = type_of(key);
  add_range(key, schema);
  schema["description"] = key.doc;
  if (key.fallback.empty()) return schema;
  if (const auto value = read_toml_value(key.fallback, {})) schema["default"] = value->json();
  return schema;
}

// Adds a key, "model.layers" as a key of the object "model". Several rules may share a key: then
// each of their values is allowed.
void add_key(Json& object, std::string_view key, Json schema) {
  Json& properties = object["properties"];
  const std::size_t dot = key.find('.');
  const std::string name(key.substr(0, dot));
  if (dot != std::string_view::npos) {
    Json& inner = properties[name];
    inner["type"] = "object";
    return add_key(inner, key.substr(dot + 1), std::move(schema));
  }
  if (!properties.contains(name)) {
    properties[name] = std::move(schema);
  } else {
    Json& known = properties[name];
    if (!known.contains("anyOf")) known = {{"anyOf", Json::array({known})}};
    known["anyOf"].push_back(std::move(schema));
  }
}

// Refuses keys that nobody knows, in tables whose keys are all listed.
void close(Json& object, const char* keyword) {
  if (!object.contains("properties")) return;
  object[keyword] = false;
  for (auto& [name, property] : object["properties"].items())
    close(property, "additionalProperties");
}

Json table_of(const std::vector<KeyRule>& keys) {
  Json table = {{"type", "object"}, {"properties", Json::object()}};
  for (const KeyRule& key : keys) add_key(table, key.key, schema_of(key));
  return table;
}

// A component's table: the keys that all of its kind have, and those of the one that it uses.
Json component_of(Kind kind, const std::vector<KeyRule>& keys, const Catalog& catalog) {
  Json table = table_of(keys);
  table["properties"]["use"]["enum"] = catalog.ids(kind);
  for (const CatalogEntry& entry : catalog.entries) {
    if (entry.kind != kind) continue;
    Json options = table_of(entry.keys);
    for (auto& [name, option] : options["properties"].items())
      close(option, "additionalProperties");
    table["allOf"].push_back(
        {{"if", {{"properties", {{"use", {{"const", entry.id}}}}}, {"required", {"use"}}}},
         {"then", {{"properties", options["properties"]}}}});
  }
  // Where an included file says which component is used, any option may be right.
  table["allOf"].push_back(
      {{"if", {{"required", {"use"}}}}, {"else", {{"additionalProperties", true}}}});
  table["unevaluatedProperties"] = false;
  return table;
}

Json schema_of(const TableRules& rules, const Catalog& catalog) {
  const auto kind = kind_named(rules.name);
  Json table = kind ? component_of(*kind, rules.keys, catalog) : table_of(rules.keys);
  if (!kind && rules.name != "stage") close(table, "additionalProperties");
  table["description"] = rules.doc;
  return table;
}

}  // namespace

Json json_schema(const Catalog& catalog) {
  Json tables = {{"include", list_of({{"type", "string"}})}}, definitions = Json::object();
  Json added = {{"type", "object"}};
  for (const TableRules& rules : plan_schema()) {
    definitions[rules.name] = schema_of(rules, catalog);
    const Json table = {{"$ref", "#/$defs/" + rules.name}};
    tables[rules.name] = rules.list ? list_of(table) : table;
    if (rules.list) added["properties"][rules.name] = list_of(table);
  }
  close(added, "additionalProperties");
  tables["add"] = added;
  for (const TableRules& rules : plan_schema()) {
    if (rules.in_stage) definitions["stage"]["properties"][rules.name] = tables[rules.name];
  }
  definitions["stage"]["properties"]["add"] = added;
  close(definitions["stage"], "additionalProperties");
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "A plan of kernelrl"},
          {"type", "object"},
          {"properties", tables},
          {"additionalProperties", false},
          {"$defs", definitions}};
}

}  // namespace krl::core
