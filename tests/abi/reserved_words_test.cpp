// The names that a component's options cannot have, because its table in a plan has such keys of
// kernelrl's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/plan/schema.hpp"

namespace krl::core {
namespace {

std::set<std::string> reserved(std::string_view table) {
  std::set<std::string> words;
  for (const KeyRule& rule : table_rules(table).keys) words.insert(rule.key);
  return words;
}

// A plugin of 1.0 may use every other name: a key that came later must give way to its option.
TEST(ReservedWords, AreThoseOf10) {
  EXPECT_THAT(reserved("policy"),
              ::testing::UnorderedElementsAre("use", "isolation", "sampler", "reference"));
  EXPECT_THAT(reserved("backend"),
              ::testing::UnorderedElementsAre("use", "isolation", "before", "sanitizer"));
  EXPECT_THAT(reserved("dataset"), ::testing::UnorderedElementsAre("use", "isolation", "role"));
  EXPECT_THAT(reserved("reward"),
              ::testing::UnorderedElementsAre("use", "isolation", "name", "weight", "when"));
}

}  // namespace
}  // namespace krl::core
