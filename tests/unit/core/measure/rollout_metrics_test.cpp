#include "core/measure/rollout_metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace krl::core {
namespace {

TurnRecord turn(Verdict verdict, double speedup, double score) {
  TurnRecord t;
  t.answer.tokens = {1, 2, 3};
  t.evaluation.verdict = verdict;
  if (verdict == Verdict::kOk) {
    t.evaluation.cases.emplace_back();
    t.evaluation.cases[0].speedup_low = speedup;
  }
  t.score = {score, {score}};
  return t;
}

TEST(RolloutMetrics, CountKernelsAndSpeeds) {
  const Task task{"t", "", "", 1, ""};
  const std::vector<Episode> episodes = {
      {&task, {}, 0, {turn(Verdict::kCompileError, 0, 0), turn(Verdict::kOk, 1, 1)}},
      {&task, {}, 1, {turn(Verdict::kOk, 4, 2), turn(Verdict::kWrongResult, 0, 0)}},
      {&task, {}, 2, {turn(Verdict::kInfraError, 0, 0)}},
  };
  Metrics m = rollout_metrics(episodes, {"speed"}, 2);
  EXPECT_DOUBLE_EQ(m["kernel/compile_rate"], 0.75);
  EXPECT_DOUBLE_EQ(m["kernel/pass_rate"], 0.5);
  EXPECT_DOUBLE_EQ(m["kernel/fast_1"], 0.25) << "as fast as the baseline is not faster";
  EXPECT_DOUBLE_EQ(m["kernel/fast_2"], 0.25);
  EXPECT_DOUBLE_EQ(m["kernel/speedup_median"], 2.5);
  EXPECT_DOUBLE_EQ(m["kernel/speedup_geomean"], 2);
  EXPECT_DOUBLE_EQ(m["kernel/speedup_capped"], 2);  // (1 + 3) / 2
  EXPECT_DOUBLE_EQ(m["kernel/pass_rate_any"], 1) << "of the episodes that were evaluated";
  EXPECT_DOUBLE_EQ(m["kernel/compile_rate_any"], 1);
  EXPECT_DOUBLE_EQ(m["tier_1/pass_rate_any"], 1);
  EXPECT_FALSE(m.contains("turn_1/pass_rate_any"));
  EXPECT_DOUBLE_EQ(m["episode/turns"], 2);
  EXPECT_FALSE(m.contains("kernel/timed")) << "all of them are";
  EXPECT_DOUBLE_EQ(m["verdict/ok"], 0.5);
  EXPECT_DOUBLE_EQ(m["verdict/compile_error"], 0.25);
  EXPECT_EQ(m.at("verdict/timeout"), 0) << "a curve without gaps";
  EXPECT_FALSE(m.contains("verdict/infra_error"));
  EXPECT_DOUBLE_EQ(m["turn_1/pass_rate"], 0.5);
  EXPECT_DOUBLE_EQ(m["turn_2/pass_rate"], 0.5);
  EXPECT_DOUBLE_EQ(m["tier_1/pass_rate"], 0.5);
  EXPECT_DOUBLE_EQ(m["reward/mean"], 0.75);
  EXPECT_DOUBLE_EQ(m["reward/speed/mean"], 0.75);
  EXPECT_NEAR(m["reward/std"], std::sqrt((0.5625 + 0.0625 + 1.5625 + 0.5625) / 3), 1e-12);
  EXPECT_DOUBLE_EQ(m["response_length/mean"], 3);
  EXPECT_DOUBLE_EQ(m["infra_errors"], 1);
}

TurnRecord checked_turn(Verdict verdict, std::vector<std::pair<CaseKind, Verdict>> cases) {
  TurnRecord t = turn(verdict, 1, 0);
  t.evaluation.cases.clear();
  for (const auto& [kind, of_case] : cases) {
    Case& c = t.evaluation.cases.emplace_back();
    c.kind = kind;
    c.verdict = of_case;
  }
  return t;
}

TEST(RolloutMetrics, OverfitKernelsAreRightWhereTheyWereShown) {
  const Task task{"t", "", "", 0, ""};
  const auto shown = CaseKind::kShown, fresh = CaseKind::kFresh;
  const auto ok = Verdict::kOk, wrong = Verdict::kWrongResult;
  const TurnRecord right = checked_turn(ok, {{shown, ok}, {fresh, ok}});
  const TurnRecord overfit = checked_turn(wrong, {{shown, ok}, {fresh, ok}, {fresh, wrong}});
  const TurnRecord plainly_wrong = checked_turn(wrong, {{shown, ok}, {shown, wrong}});
  const auto rate = [&](const TurnRecord& a, const TurnRecord& b) {
    const Metrics m = rollout_metrics({{&task, {}, 0, {a}}, {&task, {}, 1, {b}}}, {"speed"}, 1);
    const auto found = m.find("kernel/overfit_rate");
    return found == m.end() ? -1 : found->second;
  };
  EXPECT_EQ(rate(right, overfit), 0.5);
  EXPECT_EQ(rate(right, plainly_wrong), 0);
  EXPECT_EQ(rate(overfit, plainly_wrong), 1);
  EXPECT_EQ(rate(plainly_wrong, plainly_wrong), -1) << "none was right where it was shown";
}

TEST(RolloutMetrics, SayHowManyKernelsTheClockCannotTellFromTheBaseline) {
  const Task task{"t", "", "", 0, ""};
  const auto timed = [](double low, double high) {
    TurnRecord t = turn(Verdict::kOk, low, 1);
    t.evaluation.cases[0].speedup_high = high;
    return t;
  };
  const Metrics m = rollout_metrics({{&task, {}, 0, {timed(0.99, 1.02)}},
                                     {&task, {}, 1, {timed(1.01, 1.04)}},
                                     {&task, {}, 2, {timed(0.9, 0.99)}},
                                     {&task, {}, 3, {turn(Verdict::kWrongResult, 0, 0)}}},
                                    {"speed"}, 1);
  EXPECT_DOUBLE_EQ(m.at("kernel/within_noise"), 1.0 / 3);
}

TEST(RolloutMetrics, WithoutPassingKernelsThereAreNoSpeeds) {
  const Task task{"t", "", "", 0, ""};
  const Metrics m =
      rollout_metrics({{&task, {}, 0, {turn(Verdict::kWrongResult, 0, 0)}}}, {"speed"}, 1);
  EXPECT_FALSE(m.contains("kernel/speedup_capped"));
  EXPECT_DOUBLE_EQ(m.at("kernel/fast_1"), 0);
  EXPECT_FALSE(m.contains("turn_1/pass_rate"));  // one turn only: the same as kernel/pass_rate
}

TEST(RolloutMetrics, MeasureTheFirstTurnAlsoWhenNoEpisodeNeededASecond) {
  const Task task{"t", "", "", 0, ""};
  const Metrics m = rollout_metrics({{&task, {}, 0, {turn(Verdict::kOk, 1, 1)}}}, {"speed"}, 2);
  EXPECT_DOUBLE_EQ(m.at("turn_1/pass_rate"), 1);
  EXPECT_FALSE(m.contains("turn_2/pass_rate"));
}

TEST(RolloutMetrics, LeaveOutWhatNoTurnMeasured) {
  const Task task{"t", "", "", 0, ""};
  const Metrics m =
      rollout_metrics({{&task, {}, 0, {turn(Verdict::kInfraError, 0, 0)}}}, {"speed"}, 1);
  EXPECT_EQ(m, (Metrics{{"infra_errors", 1}, {"reward/lost", 0}}));
}

TEST(RolloutMetrics, TakeSpeedsFromTheKernelsThatHaveATime) {
  const Task task{"t", "", "", 0, ""};
  const Metrics m = rollout_metrics({{&task, {}, 0, {turn(Verdict::kOk, 4, 1)}},
                                     {&task, {}, 1, {turn(Verdict::kOk, kUnknown, 1)}}},
                                    {"speed"}, 1);
  EXPECT_DOUBLE_EQ(m.at("kernel/speedup_geomean"), 4);
  EXPECT_DOUBLE_EQ(m.at("kernel/fast_2"), 0.5);
  EXPECT_DOUBLE_EQ(m.at("kernel/timed"), 0.5);
}

TEST(RolloutMetrics, HaveNoSpeedsOfABackendThatTimesNothing) {
  const Task task{"t", "", "", 0, ""};
  const Metrics m = rollout_metrics({{&task, {}, 0, {turn(Verdict::kOk, kUnknown, 1)}}}, {"s"}, 1);
  EXPECT_FALSE(m.contains("kernel/fast_1"));
  EXPECT_FALSE(m.contains("kernel/timed"));
}

TEST(RolloutMetrics, OnlyCountTurnsThatCouldNotBeScored) {
  const Task task{"t", "", "", 0, ""};
  TurnRecord lost = turn(Verdict::kOk, 4, 0);
  lost.score = {0, {}, "the judge is out"};
  const Metrics m = rollout_metrics(
      {{&task, {}, 0, {turn(Verdict::kOk, 2, 3), lost}}, {&task, {}, 1, {lost}}}, {"speed"}, 2);
  EXPECT_DOUBLE_EQ(m.at("reward/lost"), 2);
  EXPECT_DOUBLE_EQ(m.at("infra_errors"), 2);
  EXPECT_DOUBLE_EQ(m.at("reward/mean"), 3);
  EXPECT_DOUBLE_EQ(m.at("episode/turns"), 1);
  EXPECT_DOUBLE_EQ(m.at("kernel/pass_rate_any"), 1) << "of the one episode that was played";
  EXPECT_DOUBLE_EQ(m.at("kernel/compile_rate_any"), 1);
}

}  // namespace
}  // namespace krl::core
