#include <string>

#include "core/plan/schema.hpp"
#include "core/plan/value_range.hpp"

namespace krl {
namespace {

std::string type_text(const KeyRule& key) {
  const auto choices = choices_of(key.range);
  if (!choices.empty()) return either(choices);
  const std::string type(described(key.type));
  return key.range.empty() ? type : type + ", " + key.range;
}

std::string default_text(const KeyRule& key) {
  if (key.required) return "required";
  return key.fallback.empty() ? "" : "`" + key.fallback + "`";
}

std::string doc_text(const KeyRule& key) {
  if (key.only_if.empty()) return key.doc;
  const std::size_t equals = key.only_if.find('=');
  return key.doc + " (only with " + key.only_if.substr(0, equals) + " = " +
         either(choices_of(key.only_if.substr(equals + 1))) + ")";
}

}  // namespace

std::string schema_markdown() {
  std::string out;
  for (const TableRules& table : plan_schema()) {
    const std::string header = table.list ? "[[" + table.name + "]]" : "[" + table.name + "]";
    out += "## `" + header + "`\n" + table.doc;
    if (table.in_stage) out += " A stage may override it.";
    out += "\n\n| key | type | default | meaning |\n|---|---|---|---|\n";
    for (const KeyRule& key : table.keys) {
      out += "| `" + key.key + "` | " + type_text(key) + " | " + default_text(key) + " | " +
             doc_text(key) + " |\n";
    }
    out += "\n";
  }
  return out;
}

}  // namespace krl
