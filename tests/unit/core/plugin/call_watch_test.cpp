#include "core/plugin/active_call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>

namespace krl::core {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const Callee kPolicy{"/plugins/example.krl.so", "policy", "slow", "example", "1.2.3"};

milliseconds one_for_score(std::string_view function) {
  return milliseconds(function == "score" ? 1 : 0);
}

TEST(CallWatch, SaysAgainAndAgainWhatTakesLong) {
  std::latch said(3);
  const CallWatch watch(
      [&](const std::string& note) {
        EXPECT_THAT(note, StartsWith("policy 'slow' (score) has been running for "));
        if (!said.try_wait()) said.count_down();
      },
      one_for_score);
  const ActiveCall call(kPolicy, "score");
  said.wait();
}

TEST(CallWatch, SaysNothingOfCallsThatMayTakeAnyTime) {
  std::latch said(1);
  std::string first;
  const CallWatch watch(
      [&](const std::string& note) {
        if (said.try_wait()) return;
        first = note;
        said.count_down();
      },
      one_for_score);
  const ActiveCall stream(kPolicy, "sample_stream");  // the older of the two
  const ActiveCall call(kPolicy, "score");
  said.wait();
  EXPECT_THAT(first, AllOf(StartsWith("policy 'slow' (score) has been running for 0 s"),
                           HasSubstr("(plugin example 1.2.3, /plugins/example.krl.so)")));
}

TEST(CallWatch, KnowsWhatIsQuickAndWhatIsNot) {
  EXPECT_EQ(usual_limit("score"), std::chrono::seconds(30));
  EXPECT_EQ(usual_limit("read item 3"), std::chrono::seconds(30));
  EXPECT_EQ(usual_limit("evaluate"), std::chrono::minutes(5));
  EXPECT_EQ(usual_limit("forward_backward"), std::chrono::minutes(5));
  EXPECT_EQ(usual_limit("sample_stream"), milliseconds(0));
}

}  // namespace
}  // namespace krl::core
