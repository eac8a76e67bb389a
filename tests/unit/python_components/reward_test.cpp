// A reward in Python: functions, classes, batches, and what they see of a turn.
#include <gtest/gtest.h>

#include "tests/unit/python_components/python_file.hpp"

namespace krl {
namespace {

using testing::python_file;
using testing::python_plugin;
using testing::TurnBuilder;

TEST(PythonReward, AFunctionGetsTheOptionsWithEachTurn) {
  const auto term = python_plugin().reward("python", python_file("rewards.py", "short"));
  EXPECT_EQ(term.score(TurnBuilder().source(std::string(500, 'x'))), 0.75);
  const auto strict =
      python_plugin().reward("python", python_file("rewards.py", "short", R"({"limit": 100})"));
  EXPECT_EQ(strict.score(TurnBuilder().source(std::string(25, 'x'))), 0.75);
  EXPECT_EQ(strict.score(TurnBuilder().source(std::string(500, 'x'))), 0);
}

TEST(PythonReward, AClassScoresABatchInOneCall) {
  const auto term =
      python_plugin().reward("python", python_file("rewards.py", "Sum", R"({"factor": 2})"));
  std::vector<TurnBuilder> turns;
  for (std::size_t i = 0; i < 128; ++i) turns.push_back(TurnBuilder().answer(std::string(i, 'x')));
  const std::vector<double> scores = term.scores(turns);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(scores[i], 1000 + 2.0 * static_cast<double>(i));
  EXPECT_EQ(term.score(TurnBuilder()), 2000) << "the object lives from call to call";
}

TEST(PythonReward, SeesTheTurnAsItIs) {
  const auto term = python_plugin().reward("python", python_file("rewards.py", "sees_everything"));
  TurnBuilder turn;
  turn.previous(TurnBuilder()).task("a_task", 2).prompt("p").answer(std::string("ä\0\n", 4));
  turn.thinking("t").source("s").tokens(3).format(KRL_FORMAT_TRUNCATED);
  turn.stop_reason(KRL_STOP_LENGTH).verdict(Verdict::kWrongResult).kernel(40);
  turn.speedup(1.5).untimed_case(Verdict::kWrongResult).value("shuffles", 3).warning("a warning");
  EXPECT_EQ(term.score(turn), 1);
}

}  // namespace
}  // namespace krl
