// The test host itself: it must be at least as strict as kernelrl.
#include <gtest/gtest.h>
#include <kernelrl/sdk.hpp>
#include <kernelrl/testing.hpp>

namespace krl {
namespace {

struct Strict final : Reward {
  std::int64_t count = 1;
  std::string mode = "a";
  static constexpr auto config = krl::config(opt("count", &Strict::count, "a count").range(0, 3),
                                             opt("mode", &Strict::mode, "a mode").one_of("a|b"),
                                             free_opt("steps", KRL_ARRAY, "a list"));
  double score(const Turn& turn) override { return turn.answer().empty() ? kUnknown : 1; }
};

KRL_PLUGIN("testing_test", "1.0.0", reward<Strict>("test.strict", "a reward"))

std::string refusal(testing::Table options) {
  try {
    testing::Plugin(krl_plugin_v1).reward("test.strict", std::move(options));
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Testing, ChecksOptionsAgainstTheDeclaredOnes) {
  EXPECT_EQ(refusal({{"count", 3}, {"mode", "b"}, {"steps", {1.0, 2.0}}}), "accepted");
  EXPECT_EQ(refusal({{"cuont", 3}}), "unknown option 'cuont'");
  EXPECT_EQ(refusal({{"count", 4}}), "option 'count': not in 0..3");
  EXPECT_EQ(refusal({{"count", -1}}), "option 'count': not in 0..3");
  EXPECT_EQ(refusal({{"count", "3"}}), "option 'count': wrong type");
  EXPECT_EQ(refusal({{"count", 1.5}}), "option 'count': wrong type");
  EXPECT_EQ(refusal({{"mode", "c"}}), "option 'mode': 'c' is none of a|b");
  EXPECT_EQ(refusal({{"steps", 1.0}}), "option 'steps': wrong type");
}

TEST(Testing, RefusesAScoreThatIsNotANumber) {
  const testing::Plugin plugin(krl_plugin_v1);
  const auto term = plugin.reward("test.strict");
  EXPECT_EQ(term.score(testing::TurnBuilder().answer("text")), 1);
  EXPECT_THROW(term.score(testing::TurnBuilder()), std::runtime_error);
}

TEST(Testing, SaysWhatIsMissing) {
  const testing::Plugin plugin(krl_plugin_v1);
  EXPECT_THROW(plugin.reward("test.other"), std::runtime_error);
  EXPECT_THROW(plugin.component(KRL_DATASET, "test.strict"), std::runtime_error);
  EXPECT_THROW(testing::Plugin("/does/not/exist.krl.so"), std::runtime_error);
}

TEST(Testing, QuotesTextsForJson) {
  EXPECT_EQ(testing::Value::quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(testing::Value({1.05, 2.0}).to_json(), "[1.05,2]");
}

TEST(Testing, BuildersAreValues) {
  testing::TurnBuilder first;
  first.answer("one");
  testing::TurnBuilder second = first;
  second.answer("two").warning("w");
  EXPECT_EQ(Turn(first.c()).answer(), "one");
  EXPECT_EQ(Turn(second.c()).answer(), "two");
  EXPECT_EQ(Turn(first.c()).evaluation().diagnostics.size(), 0u);
  EXPECT_EQ(Turn(second.c()).evaluation().diagnostics.size(), 1u);
}

}  // namespace
}  // namespace krl
