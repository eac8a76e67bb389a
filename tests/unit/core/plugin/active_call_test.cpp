#include "core/plugin/active_call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <thread>

namespace krl::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const Callee kReward{"/plugins/example.krl.so", "reward", "short", "example", "1.2.3"};
const Callee kFile{"/plugins/example.krl.so"};

std::string name_of_innermost() {
  const ActiveCall* const call = ActiveCall::of_this_thread();
  if (call == nullptr) return "none";
  FixedText text;
  call->add_name(text);
  return std::string(text.view());
}

TEST(ActiveCall, IsTheInnermostOfItsThread) {
  EXPECT_EQ(name_of_innermost(), "none");
  {
    const ActiveCall outer(kReward, "score");
    {
      const ActiveCall inner(kFile, "dlopen");
      EXPECT_EQ(name_of_innermost(), "plugin /plugins/example.krl.so (dlopen)");
      EXPECT_EQ(inner.outer(), &outer);
      std::jthread([] { EXPECT_EQ(name_of_innermost(), "none"); });
    }
    EXPECT_EQ(name_of_innermost(), "reward 'short' (score)");
  }
  EXPECT_EQ(name_of_innermost(), "none");
}

TEST(ActiveCall, IsListedForAllThreads) {
  EXPECT_THAT(calls_under_way(), IsEmpty());
  std::latch begun(2), seen(1);
  const auto call = [&](const Callee& callee, std::string_view function) {
    const ActiveCall active(callee, function);
    begun.count_down();
    seen.wait();
  };
  {
    const std::jthread one(call, kReward, "score"), other(call, kReward, "score");
    begun.wait();
    const char* const text =
        "reward 'short' \\(score\\) for [0-9]+ s \\(plugin example 1.2.3, "
        "/plugins/example.krl.so\\)";
    EXPECT_THAT(calls_under_way(), ElementsAre(MatchesRegex(text), MatchesRegex(text)));
    seen.count_down();
  }
  EXPECT_THAT(calls_under_way(), IsEmpty());
}

TEST(ActiveCall, ThatThrowsIsOverWithTheTextOfWhatItThrew) {
  EXPECT_EQ(enter(kReward, "score", [] {}), std::nullopt);
  EXPECT_EQ(enter(kReward, "score", [] { throw std::runtime_error("boom"); }), "boom");
  EXPECT_EQ(enter(kReward, "score", [] { throw 42; }), "something that is not a std::exception");
  EXPECT_THAT(calls_under_way(), IsEmpty());
}

TEST(ActiveCall, NamesAreOfOneLine) {
  const ActiveCall call({"f", "reward", "a\nb\x1b[2J"}, "score");
  EXPECT_EQ(name_of_innermost(), "reward 'a?b?[2J' (score)");
}

}  // namespace
}  // namespace krl::core
