#include "core/task/evaluation.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace krl {
namespace {

Evaluation example() {
  Evaluation e;
  e.verdict = Verdict::kOk;
  e.backend = "cpu";
  e.contract = Contract::kHost;
  e.diagnostics = {{KRL_SEVERITY_WARNING, 3, 4, "-Wunused", "unused variable"}};
  e.kernels.push_back({});
  e.kernels[0].name = "k";
  e.kernels[0].shared_bytes = 128;
  for (const double speedup : {2.0, 8.0}) {
    CaseRecord c;
    c.label = "n=1";
    c.speedup = c.speedup_low = c.speedup_high = speedup;
    e.cases.push_back(c);
  }
  e.values = {{0, "sectors_per_request", "", 4}, {1, "sectors_per_request", "", 8}};
  return e;
}

TEST(Evaluation, SpeedupIsTheGeometricMeanOfTheLowerBounds) {
  Evaluation e = example();
  EXPECT_DOUBLE_EQ(e.speedup(), 4.0);
  e.cases[0].speedup_low = 0.5;
  EXPECT_DOUBLE_EQ(e.speedup(), 2.0);
  e.cases[1].kind = CaseKind::kHoldout;
  EXPECT_DOUBLE_EQ(e.speedup(), 0.5);
}

TEST(Evaluation, WithoutTimesTheSpeedupIsNotANumber) {
  EXPECT_TRUE(std::isnan(Evaluation().speedup()));
}

TEST(Evaluation, ValuesAreMeansOverTheCases) {
  EXPECT_DOUBLE_EQ(*example().value("sectors_per_request"), 6.0);
  EXPECT_FALSE(example().value("warp_efficiency"));
}

TEST(Evaluation, SurvivesJson) {
  const nlohmann::json json = to_json(example());
  EXPECT_EQ(to_json(evaluation_from_json(nlohmann::json::parse(json.dump()))), json);
  EXPECT_TRUE(std::isnan(evaluation_from_json(json).kernels[0].occupancy));
  EXPECT_EQ(json.at("contract"), "host");
  EXPECT_EQ(evaluation_from_json(json).contract, Contract::kHost);
}

TEST(Evaluation, KindsOfCasesSurviveJson) {
  for (const CaseKind kind : {CaseKind::kShown, CaseKind::kHoldout, CaseKind::kFresh}) {
    Evaluation e = example();
    e.cases[1].kind = kind;
    EXPECT_EQ(evaluation_from_json(to_json(e)).cases[1].kind, kind);
    EXPECT_EQ(to_json(e).at("cases")[1].at("kind"), name_of(kind));
  }
}

TEST(Evaluation, VerdictsHaveNamesBothWays) {
  for (std::uint32_t v = 0; v <= KRL_VERDICT_INFRA_ERROR; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    EXPECT_EQ(verdict_named(name_of(verdict)), verdict);
  }
  EXPECT_FALSE(verdict_named("fine"));
}

}  // namespace
}  // namespace krl
