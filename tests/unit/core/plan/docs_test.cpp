#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/plan/schema.hpp"

namespace krl {
namespace {

// docs/plan.md ends with the tables of the schema. KERNELRL_UPDATE_EXPECTED=1 writes them anew.
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
}  // namespace krl
