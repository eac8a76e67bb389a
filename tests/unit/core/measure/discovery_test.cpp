#include "core/measure/discovery.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace krl::core {
namespace {

const Task kOne{"one", "", "", 0, ""}, kTwo{"two", "", "", 0, ""};

// A right kernel; with a speedup of 0 a wrong one.
TurnRecord turn(const std::string& source, double speedup, double roofline = 0) {
  TurnRecord t;
  t.answer.tokens = {1, 2};
  t.answer.logprobs = {-1, -3};
  t.candidate.source = source;
  t.evaluation.verdict = speedup > 0 ? Verdict::kOk : Verdict::kWrongResult;
  t.evaluation.cases.emplace_back().speedup_low = speedup;
  if (roofline > 0) t.evaluation.values = {{0, "roofline", "", roofline}};
  return t;
}

Episode episode(const Task& task, std::size_t group, TurnRecord turn) {
  return {&task, {1, group}, 0, {std::move(turn)}};
}

std::vector<Episode> first_iteration() {
  return {episode(kOne, 0, turn("a", 1, 0.1)), episode(kOne, 0, turn("b", 1.01)),
          episode(kOne, 0, turn("c", 4, 0.4)), episode(kOne, 0, turn("a", 1, 0.1)),
          episode(kTwo, 1, turn("a", 0)),      episode(kTwo, 1, turn("a", 0))};
}

TEST(Discovery, CountsRecordsAndKeepsTheBestOfEveryTask) {
  Discovery discovery;
  Metrics m = discovery.add(first_iteration());
  EXPECT_EQ(m["found/records"], 2) << "the first, and c: b is not 2 % faster than a";
  EXPECT_EQ(m["found/tasks"], 1);
  EXPECT_DOUBLE_EQ(m["found/best_speedup"], 4);
  EXPECT_DOUBLE_EQ(m["task/one/best_roofline"], 0.4);
  EXPECT_DOUBLE_EQ(m["task/one/pass_rate"], 1);
  EXPECT_EQ(m["task/two/pass_rate"], 0);
  EXPECT_FALSE(m.contains("task/two/best_speedup"));
  m = discovery.add({episode(kTwo, 0, turn("d", 1)), episode(kOne, 1, turn("e", 3))});
  EXPECT_EQ(m["found/records"], 1);
  EXPECT_DOUBLE_EQ(m["found/best_speedup"], 2) << "of 4 and 1";
  EXPECT_DOUBLE_EQ(m["found/best_roofline"], 0.4);
}

TEST(Discovery, CountsWithheldCellsThatAreFilled) {
  const auto vectors = [](double speedup) {
    TurnRecord t = turn("v", speedup);
    t.evaluation.values.push_back({0, "vector_accesses", "", 4});
    return t;
  };
  const std::set<Cell> withheld = {{"one", "vector4"}, {"one", "stages"}};
  Discovery discovery(withheld);
  Metrics m = discovery.add(
      {episode(kOne, 0, turn("a", 1)), episode(kOne, 0, vectors(0)), episode(kTwo, 1, vectors(2))});
  EXPECT_EQ(m["withheld/cells"], 2);
  EXPECT_EQ(m["withheld/filled"], 0) << "wrong, or another task's";
  m = discovery.add({episode(kOne, 0, vectors(1)), episode(kOne, 0, turn("b", 1))});
  EXPECT_EQ(m["withheld/filled"], 1);
  EXPECT_EQ(m["withheld/answers"], 0.5);
  EXPECT_EQ(m["withheld/one/vector4"], 1);
  Discovery resumed(withheld);
  resumed.restore(discovery.state());
  EXPECT_EQ(resumed.add({episode(kOne, 0, turn("c", 1))})["withheld/filled"], 1);
  EXPECT_FALSE(Discovery().add({episode(kOne, 0, vectors(1))}).contains("withheld/filled"));
}

TEST(Discovery, TellsHowManyAnswersDiffer) {
  Discovery discovery;
  Metrics m = discovery.add(first_iteration());
  EXPECT_DOUBLE_EQ(m["answers/distinct_in_group"], (0.75 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(m["answers/new"], 4.0 / 6) << "another task's is another answer";
  EXPECT_DOUBLE_EQ(m["sampler/entropy"], 2);
  m = discovery.add({episode(kOne, 0, turn("a", 1)), episode(kOne, 0, turn("f", 1))});
  EXPECT_DOUBLE_EQ(m["answers/new"], 0.5);
  EXPECT_DOUBLE_EQ(m["answers/distinct"], 5.0 / 8);
  EXPECT_EQ(m["found/answers"], 5);
}

TEST(Discovery, EstimatesTheBestOfKFromTheGroups) {
  const Metrics m = Discovery().add(first_iteration());
  EXPECT_DOUBLE_EQ(m.at("best_at_2/passed"), 0.5) << "all of one task, none of the other";
  EXPECT_DOUBLE_EQ(m.at("best_at_4/speedup"), 2);
  EXPECT_FALSE(m.contains("best_at_8/passed"));
}

TEST(Discovery, NamesStrategiesByWhatWasExecuted) {
  TurnRecord shuffles = turn("a", 1);
  shuffles.evaluation.values = {{0, "shuffles", "", 5}};
  Discovery discovery;
  Metrics m = discovery.add({episode(kOne, 0, shuffles), episode(kOne, 0, turn("b", 1))});
  EXPECT_DOUBLE_EQ(m["strategy/warp_shuffles"], 0.5);
  EXPECT_EQ(m["found/strategies"], 2);
}

TEST(Discovery, GoesOnWhereACheckpointLeftIt) {
  Discovery discovery, resumed;
  discovery.add(first_iteration());
  resumed.restore(nlohmann::json::parse(discovery.state().dump()));
  const std::vector<Episode> next = {episode(kOne, 0, turn("a", 5)),
                                     episode(kTwo, 1, turn("z", 1))};
  EXPECT_EQ(resumed.add(next), discovery.add(next));
  EXPECT_EQ(resumed.state(), discovery.state());
}

}  // namespace
}  // namespace krl::core
