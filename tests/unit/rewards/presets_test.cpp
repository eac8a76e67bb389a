// The presets of configs/rewards/ against the formulas that their comments state.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "tests/unit/rewards/builtin_term.hpp"

namespace krl {
namespace {

using testing::TurnBuilder;

toml::table preset(const std::string& name) {
  return toml::parse_file(KERNELRL_SOURCE_DIR "/configs/rewards/" + name + ".toml");
}

testing::Value option_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* list = node.as_array()) {
    std::string json;
    for (const toml::node& item : *list) {
      json += json.empty() ? "[" : ",";
      json += std::to_string(item.value<double>().value());
    }
    return testing::Value::json(json + "]");
  }
  return node.value<double>().value();
}

bool applies(const std::string& when, const Evaluation& evaluation) {
  if (when == "passed") return evaluation.passed();
  return when == "always" || evaluation.compiled();
}

// Sum of weight x term over the [[reward]] tables of `plan`, as the design defines a turn's score.
double score(const toml::table& plan, const TurnBuilder& turn) {
  double sum = 0;
  for (const toml::node& node : *plan["reward"].as_array()) {
    const toml::table& reward = *node.as_table();
    testing::Table options;
    for (const auto& [key, value] : reward) {
      if (key != "use" && key != "weight" && key != "when")
        options.emplace(std::string(key.str()), option_of(value));
    }
    const auto term = builtin_term(reward["use"].value<std::string>().value(), options);
    if (applies(reward["when"].value_or<std::string>("always"), Turn(turn.c()).evaluation()))
      sum += reward["weight"].value<double>().value() * term.score(turn);
  }
  return sum;
}

TurnBuilder wrong() { return TurnBuilder().verdict(Verdict::kWrongResult); }

TEST(Presets, Kevin) {
  const toml::table plan = preset("kevin");
  EXPECT_DOUBLE_EQ(score(plan, faster(0.5)), 0.3 + 0.5);
  EXPECT_DOUBLE_EQ(score(plan, faster(7)), 0.3 + 7);
  EXPECT_EQ(score(plan, wrong().speedup(7)), 0);
}

TEST(Presets, DrKernel) {
  const toml::table plan = preset("drkernel");
  EXPECT_DOUBLE_EQ(score(plan, faster(0.5)), 1 + 0.5 + 1);
  EXPECT_DOUBLE_EQ(score(plan, faster(7)), 1 + 3 + 1);
  EXPECT_EQ(score(plan, wrong().speedup(7)), 0);
}

TEST(Presets, LogSpeedup) {
  const toml::table plan = preset("log_speedup");
  EXPECT_EQ(score(plan, wrong().speedup(7)), 0);
  EXPECT_NEAR(score(plan, faster(1.0 / 32)), 0.3, 1e-12);
  EXPECT_NEAR(score(plan, faster(0.5)), 0.3 + 4 * 0.2, 1e-12) << "slower than naive is told apart";
  EXPECT_NEAR(score(plan, TurnBuilder().passed().speedup(1.01, 0.99, 1.03)), 0.3 + 5 * 0.2, 1e-12);
  EXPECT_NEAR(score(plan, faster(8)), 0.3 + 8 * 0.2, 1e-12);
  EXPECT_NEAR(score(plan, faster(100)), 2.5, 1e-12);
}

TEST(Presets, Roofline) {
  const toml::table plan = preset("roofline");
  const auto at = [](double share) { return TurnBuilder().passed().value("roofline", share); };
  EXPECT_EQ(score(plan, wrong().value("roofline", 0.5)), 0);
  EXPECT_NEAR(score(plan, at(1)), 3.5, 1e-12);
  EXPECT_NEAR(score(plan, at(0.28)), 0.3 + 0.4 * std::log2(1 + 255 * 0.28), 1e-12);
}

TEST(Presets, Milestones) {
  const toml::table plan = preset("milestones");
  EXPECT_EQ(score(plan, TurnBuilder().verdict(Verdict::kCompileError)), -1);
  EXPECT_EQ(score(plan, wrong()), -1);
  EXPECT_EQ(score(plan, faster(1.0)), 1);
  EXPECT_EQ(score(plan, faster(1.06)), 2);
}

TEST(Presets, Gated) {
  const toml::table plan = preset("gated");
  const double registers = (160.0 - 64) / (255 - 64);
  TurnBuilder turn = faster(2).kernel(160, 227 * 1024).value("shuffles", 5);
  turn.value("sectors_per_request", 8);
  EXPECT_NEAR(score(plan, turn), 0.5 + 0.4 * 0.5 - 0.05 * registers - 0.05 + 0.05 + 0.05 * 0.5,
              1e-12);
  EXPECT_EQ(score(plan, turn.verdict(Verdict::kWrongResult)), 0);
  EXPECT_DOUBLE_EQ(score(plan, turn.verdict(Verdict::kTimeout)), -0.1);
}

TEST(Presets, GatedCpuIsGatedWithoutRegisters) {
  const toml::table gpu = preset("gated"), cpu = preset("gated_cpu");
  TurnBuilder turn = faster(9).kernel(64, 0).value("shuffles", 5).value("sectors_per_request", 4);
  EXPECT_DOUBLE_EQ(score(cpu, turn), 0.5 + 0.4 + 0.05 + 0.05);
  EXPECT_DOUBLE_EQ(score(cpu, turn), score(gpu, turn));
  for (const toml::node& reward : *cpu["reward"].as_array()) {
    const std::string use = (*reward.as_table())["use"].value<std::string>().value();
    EXPECT_EQ(builtin_term(use).needs() & KRL_SIGNAL_REGISTERS, 0u) << use;
  }
}

TEST(Presets, StagedShiftsTheWeights) {
  const toml::table plan = preset("staged");
  const toml::array& stages = *plan["stage"].as_array();
  ASSERT_EQ(stages.size(), 4u);
  const auto stage = [&](std::size_t i) -> const toml::table& { return *stages[i].as_table(); };
  TurnBuilder turn = wrong().untimed_case(Verdict::kOk).untimed_case(Verdict::kWrongResult);
  EXPECT_DOUBLE_EQ(score(stage(0), turn), 1 + 0.2);
  EXPECT_DOUBLE_EQ(score(stage(1), turn), 0.2 + 1 + 0.2 * 0.5);
  EXPECT_DOUBLE_EQ(score(stage(2), turn), 0.1 + 0.2 + 0.5);
  EXPECT_DOUBLE_EQ(score(stage(3), turn), 0.05 + 0.5 * 0.5);
  EXPECT_DOUBLE_EQ(score(stage(3), faster(2)), 0.05 + 0.5 + 2);
  TurnBuilder thoughtful = wrong().prompt("<think>").thinking("one block a row, shuffle the sum");
  EXPECT_DOUBLE_EQ(score(stage(2), thoughtful), 0.1 + 0.2 + 0.1);
}

TEST(Presets, EachHasATest) {
  std::set<std::string> found;
  for (const auto& entry :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/configs/rewards"))
    found.insert(entry.path().stem());
  for (const char* tested : {"kevin", "drkernel", "milestones", "gated", "gated_cpu", "staged",
                             "log_speedup", "roofline"})
    EXPECT_EQ(found.erase(tested), 1u) << tested;
  found.erase("quickstart");  // belongs to the quickstart, whose plan tests it
  EXPECT_TRUE(found.empty()) << *found.begin();
}

}  // namespace
}  // namespace krl
