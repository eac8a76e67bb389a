#include "core/learn/stagnation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace krl::core {
namespace {

using ::testing::HasSubstr;

std::vector<Episode> episodes_with(std::vector<Verdict> verdicts) {
  Episode episode;
  for (const Verdict verdict : verdicts) {
    TurnRecord turn;
    turn.evaluation.verdict = verdict;
    episode.turns.push_back(std::move(turn));
  }
  return {episode};
}

TEST(Stagnation, TellsAfterThreeIterationsAndWhenTheyHaveDoubled) {
  Stagnation stagnation;
  std::vector<int> told;
  for (int i = 1; i <= 25; ++i)
    if (stagnation.add(episodes_with({Verdict::kTimeout}), false)) told.push_back(i);
  EXPECT_EQ(told, (std::vector<int>{3, 6, 12, 24}));
  EXPECT_FALSE(stagnation.add(episodes_with({Verdict::kTimeout}), true));
  EXPECT_FALSE(stagnation.add(episodes_with({Verdict::kTimeout}), false)) << "counted anew";
}

TEST(Stagnation, NamesTheMostFrequentVerdictsAndWhatToTry) {
  const auto warning_of = [](const std::vector<Verdict>& verdicts) {
    Stagnation stagnation;
    stagnation.add(episodes_with(verdicts), false);
    stagnation.add(episodes_with(verdicts), false);
    return stagnation.add(episodes_with(verdicts), false).value_or("");
  };
  EXPECT_THAT(warning_of({Verdict::kFormatError, Verdict::kCompileError, Verdict::kCompileError,
                          Verdict::kInfraError}),
              HasSubstr("verdicts: compile_error 6, format_error 3; few kernels compile"));
  EXPECT_THAT(warning_of({Verdict::kFormatError}), HasSubstr("reward 'format'"));
  EXPECT_THAT(warning_of({Verdict::kRuntimeFault}), HasSubstr("few kernels pass"));
  EXPECT_THAT(warning_of({Verdict::kOk}), HasSubstr("reward speed"));
}

}  // namespace
}  // namespace krl::core
