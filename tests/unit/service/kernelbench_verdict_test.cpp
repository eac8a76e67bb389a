#include "service/kernels/kernelbench_verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace krl::service {
namespace {

Case of(const char* label, Verdict verdict, CaseKind kind = CaseKind::kShown) {
  Case made;
  made.label = label;
  made.verdict = verdict;
  made.kind = kind;
  return made;
}

Evaluation evaluation(Verdict verdict, std::vector<Case> cases, std::string why = "") {
  Evaluation made;
  made.verdict = verdict;
  made.cases = std::move(cases);
  made.why = std::move(why);
  return made;
}

Evaluation right_by_protocol() {
  Case timed = of("n=1000", Verdict::kOk);
  timed.samples_ns = {1e6, 3e6};
  timed.baseline_samples_ns = {4e6, 8e6};
  return evaluation(Verdict::kOk, {timed});
}

TEST(KernelBenchVerdictTest, TimesAreMeansInMilliseconds) {
  const auto verdict = kernelbench_verdict(evaluation(Verdict::kOk, {}), right_by_protocol());
  EXPECT_TRUE(verdict.is_correct());
  EXPECT_TRUE(verdict.comparable);
  EXPECT_DOUBLE_EQ(verdict.runtime_ms, 2);
  EXPECT_DOUBLE_EQ(verdict.speedup(), 3);
  EXPECT_EQ(verdict.difference, "");
  EXPECT_EQ(describe(verdict), "kernelbench: correct, 2 ms, 3.00 x the reference\n");
  EXPECT_EQ(to_json(kernelbench_verdict_of(to_json(verdict))), to_json(verdict));
}

TEST(KernelBenchVerdictTest, EstimatesAreNotComparable) {
  Evaluation estimated = right_by_protocol();
  estimated.cases[0].estimated = true;
  const auto verdict = kernelbench_verdict(evaluation(Verdict::kOk, {}), estimated);
  EXPECT_EQ(describe(verdict),
            "kernelbench: correct, 2 ms, 3.00 x the reference (not comparable)\n");
  EXPECT_EQ(describe_fast_p({verdict}), "kernelbench:  fast_0 1.000  fast_1 0.000  fast_2 0.000\n");
}

TEST(KernelBenchVerdictTest, AWordSaysWhyTheVerdictsDiffer) {
  const auto word = [](const Evaluation& own) {
    return kernelbench_verdict(own, right_by_protocol()).difference;
  };
  const Case shown = of("n=7", Verdict::kOk);
  EXPECT_EQ(word(evaluation(Verdict::kWrongResult,
                            {shown, of("n=9", Verdict::kWrongResult, CaseKind::kFresh)})),
            "other_shapes");
  EXPECT_EQ(word(evaluation(Verdict::kWrongResult, {shown, of("n=1000", Verdict::kWrongResult)})),
            "other_inputs");
  EXPECT_EQ(word(evaluation(Verdict::kWrongResult, {of("n=7", Verdict::kWrongResult)},
                            "n=7: the input x was changed")),
            "changed_input");
  EXPECT_EQ(word(evaluation(Verdict::kRuntimeFault, {})), "fault");
  EXPECT_EQ(word(evaluation(Verdict::kRejected, {})), "refused");
  EXPECT_EQ(word(evaluation(Verdict::kFlagged, {})), "flagged");
  const auto looser = kernelbench_verdict(
      evaluation(Verdict::kOk, {}), evaluation(Verdict::kWrongResult, {}, "y: 1 of 2 elements"));
  EXPECT_FALSE(looser.is_correct());
  EXPECT_EQ(looser.difference, "tolerance");
  EXPECT_EQ(looser.why, "y: 1 of 2 elements");
}

TEST(KernelBenchVerdictTest, WhatIsNotRunIsNeitherRightNorWrong) {
  const Evaluation refused = evaluation(Verdict::kRejected, {}, "line 3: …");
  const auto verdict = kernelbench_verdict(refused, refused);
  EXPECT_FALSE(verdict.compiled.has_value());
  EXPECT_EQ(verdict.difference, "");
  EXPECT_TRUE(to_json(verdict)["correct"].is_null());
  EXPECT_FALSE(*kernelbench_verdict(refused, evaluation(Verdict::kCompileError, {})).compiled);
}

TEST(KernelBenchVerdictTest, FastPCountsWrongAnswersAsSlow) {
  auto fast = kernelbench_verdict(evaluation(Verdict::kOk, {}), right_by_protocol());
  auto slow = fast;
  slow.reference_ms = 1;
  const auto wrong = kernelbench_verdict(evaluation(Verdict::kWrongResult, {}),
                                         evaluation(Verdict::kWrongResult, {}));
  EXPECT_EQ(describe_fast_p({fast, slow, wrong, wrong}),
            "kernelbench:  fast_0 0.500  fast_1 0.250  fast_2 0.250\n");
}

}  // namespace
}  // namespace krl::service
