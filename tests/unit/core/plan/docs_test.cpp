#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/plan/keys.hpp"
#include "core/plan/schema.hpp"

namespace krl::core {
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

// The keys of the table that a resumed run may change.
std::string resume_text(const TableRules& table) {
  std::string keys;
  std::size_t open = 0;
  for (const KeyRule& key : table.keys) {
    if (key.on_resume == OnResume::kKept) continue;
    ++open;
    const std::string quoted = "`" + key.key + "`";
    if (keys.find(quoted) != std::string::npos) continue;  // a key of two kinds of stages
    keys += (keys.empty() ? "" : ", ") + quoted;
  }
  if (open == table.keys.size()) return " All of it may change when a run is resumed.";
  return keys.empty() ? "" : " May change when a run is resumed: " + keys + ".";
}

// docs/plan.md's reference of all tables.
std::string schema_markdown() {
  std::string out;
  for (const TableRules& table : plan_schema()) {
    const std::string header = table.list ? "[[" + table.name + "]]" : "[" + table.name + "]";
    out += "## `" + header + "`\n" + table.doc;
    if (table.in_stage) out += " A stage may override it.";
    out += resume_text(table);
    out += "\n\n| key | type | default | meaning |\n|---|---|---|---|\n";
    for (const KeyRule& key : table.keys) {
      out += "| `" + key.key + "` | " + type_text(key) + " | " + default_text(key) + " | " +
             doc_text(key) + " |\n";
    }
    out += "\n";
  }
  return out;
}

// docs/plan.md ends with the tables of the schema. KERNELRL_UPDATE_EXPECTED=1 rewrites them.
TEST(PlanDocs, AreMadeFromTheSchema) {
  const std::string file = KERNELRL_SOURCE_DIR "/docs/plan.md";
  std::ostringstream stream;
  stream << std::ifstream(file).rdbuf();
  const std::string text = stream.str();
  const std::size_t start = text.find("\n## `[run]`");
  const std::string prose = text.substr(0, start == std::string::npos ? text.size() : start + 1);
  if (std::getenv("KERNELRL_UPDATE_EXPECTED") != nullptr) {
    std::ofstream(file) << prose << schema_markdown();
  }
  EXPECT_EQ(text.substr(prose.size()), schema_markdown());
}

TEST(PlanSchema, DescribesEveryKey) {
  for (const TableRules& table : plan_schema()) {
    EXPECT_FALSE(table.doc.empty()) << table.name;
    for (const KeyRule& key : table.keys) {
      EXPECT_FALSE(key.doc.empty()) << table.name << "." << key.key;
      EXPECT_FALSE(key.required && !key.fallback.empty()) << table.name << "." << key.key;
    }
  }
}

}  // namespace
}  // namespace krl::core
