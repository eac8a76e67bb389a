// correctness, compile, timeout, warnings: what follows from the verdict and the compiler.
#include <gtest/gtest.h>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

TurnBuilder three_of_four(Verdict verdict) {
  TurnBuilder turn;
  turn.verdict(verdict).untimed_case(verdict);
  for (int i = 0; i < 3; ++i) turn.untimed_case(Verdict::kOk);
  return turn;
}

TEST(Correctness, AllPaysOnlyForAPass) {
  const auto term = builtin_term("correctness");
  EXPECT_EQ(term.score(TurnBuilder().passed()), 1);
  EXPECT_EQ(term.score(three_of_four(Verdict::kWrongResult)), 0);
  EXPECT_EQ(term.score(TurnBuilder().verdict(Verdict::kCompileError)), 0);
}

TEST(Correctness, WrongIsThePriceOfEveryFailure) {
  const auto term = builtin_term("correctness", {{"wrong", -1.0}});
  EXPECT_EQ(term.score(TurnBuilder().passed()), 1);
  for (std::uint32_t verdict = KRL_VERDICT_FORMAT_ERROR; verdict <= KRL_VERDICT_FLAGGED; ++verdict)
    EXPECT_EQ(term.score(three_of_four(static_cast<Verdict>(verdict))), -1) << verdict;
}

TEST(Correctness, PartialCountsTheCases) {
  const auto term = builtin_term("correctness", {{"mode", "partial"}});
  EXPECT_EQ(term.score(three_of_four(Verdict::kWrongResult)), 0.75);
  EXPECT_EQ(term.score(three_of_four(Verdict::kRuntimeFault)), 0.75);
  EXPECT_EQ(term.score(TurnBuilder().verdict(Verdict::kCompileError)), 0);
  EXPECT_EQ(term.score(TurnBuilder().passed().untimed_case(Verdict::kOk)), 1);
}

TEST(Correctness, PartialRisesFromWrongToOne) {
  const auto term = builtin_term("correctness", {{"mode", "partial"}, {"wrong", -1.0}});
  EXPECT_EQ(term.score(three_of_four(Verdict::kWrongResult)), -1 + 2 * 0.75);
  EXPECT_EQ(term.score(TurnBuilder().verdict(Verdict::kLaunchError)), -1);
}

TEST(Correctness, PartialGivesNoCreditForResultsThatCannotBeTrusted) {
  const auto term = builtin_term("correctness", {{"mode", "partial"}});
  EXPECT_EQ(term.score(three_of_four(Verdict::kFlagged)), 0);
  EXPECT_EQ(term.score(three_of_four(Verdict::kNondeterministic)), 0);
  EXPECT_EQ(term.score(three_of_four(Verdict::kRejected)), 0);
}

TEST(Correctness, PartialIsBelowACorrectKernelEvenIfEveryShownCasePassed) {
  const auto term = builtin_term("correctness", {{"mode", "partial"}});
  TurnBuilder turn;
  turn.verdict(Verdict::kWrongResult).untimed_case(Verdict::kOk);
  turn.holdout_case(Verdict::kWrongResult);
  EXPECT_DOUBLE_EQ(term.score(turn), 2.0 / 3);  // two cases: at most 2 / (2 + 1)
}

TEST(Compile, PaysWhateverBecameOfTheKernelThen) {
  const auto term = builtin_term("compile");
  for (const Verdict verdict :
       {Verdict::kOk, Verdict::kLaunchError, Verdict::kRuntimeFault, Verdict::kTimeout,
        Verdict::kWrongResult, Verdict::kNondeterministic, Verdict::kFlagged})
    EXPECT_EQ(term.score(TurnBuilder().verdict(verdict)), 1) << name_of(verdict);
  for (const Verdict verdict : {Verdict::kFormatError, Verdict::kRejected, Verdict::kCompileError})
    EXPECT_EQ(term.score(TurnBuilder().verdict(verdict)), 0) << name_of(verdict);
}

TEST(Timeout, PenalisesOnlyTimeouts) {
  const auto term = builtin_term("timeout");
  EXPECT_EQ(term.score(TurnBuilder().verdict(Verdict::kTimeout)), -1);
  EXPECT_EQ(term.score(TurnBuilder().passed()), 0);
  EXPECT_EQ(term.score(TurnBuilder().verdict(Verdict::kRuntimeFault)), 0);
}

TEST(Warnings, CountsWarningsUpToTheCap) {
  const auto term = builtin_term("warnings", {{"each", 0.25}, {"cap", 0.6}});
  TurnBuilder turn;
  EXPECT_EQ(term.score(turn), 0);
  EXPECT_EQ(term.score(turn.warning("unused variable")), -0.25);
  EXPECT_EQ(term.score(turn.warning("unused variable")), -0.5);
  EXPECT_EQ(term.score(turn.warning("unused variable")), -0.6);
}

TEST(Warnings, NotesAndErrorsAreNoWarnings) {
  const auto term = builtin_term("warnings");
  EXPECT_EQ(term.score(TurnBuilder()
                           .diagnostic(KRL_SEVERITY_NOTE, "declared here")
                           .diagnostic(KRL_SEVERITY_ERROR, "no such name")),
            0);
}

}  // namespace
}  // namespace krl
