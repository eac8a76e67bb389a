#include "core/run/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "core/base/file_system.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::core {
namespace {

IterationMetrics metrics_of(int iteration) {
  return {iteration, "reinforce", 1.5, {{"reward/mean", 0.1 * iteration}}};
}

TEST(MetricsLine, HasOneOrderAndTheShortestNumbers) {
  const IterationMetrics metrics{
      3, "warm \"up\"", 12.25, {{"b", 0.1}, {"a", 1e300}, {"c", 1.0 / 3}}};
  EXPECT_EQ(
      metrics_line(metrics),
      R"({"iteration":3,"stage":"warm \"up\"","time":12.25,"a":1e+300,"b":0.1,"c":0.3333333333333333})");
}

TEST(MetricsLine, ReadsBackAsItWasWritten) {
  const IterationMetrics metrics{
      3, "x", 12.25, {{"a", std::nextafter(0.1, 1)}, {"b", 5e-324}, {"c", -0.0}}};
  const auto read = parse_metrics_line(metrics_line(metrics));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->values, metrics.values);
  EXPECT_EQ(read->stage, "x");
  EXPECT_EQ(read->time, 12.25);
}

TEST(MetricsLine, WritesWhatIsNoNumberAsNull) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string line = metrics_line({1, "x", 0, {{"a", infinity}, {"b", std::nan("")}}});
  EXPECT_EQ(line, R"({"iteration":1,"stage":"x","time":0.0,"a":null,"b":null})");
  EXPECT_TRUE(std::isnan(parse_metrics_line(line)->values.at("a")));
}

TEST(MetricsLine, OfAnythingElseIsAnError) {
  for (const char* const line : {"", "{", "[]", "{}", "{\"iteration\":\"1\"}", "\xff"})
    EXPECT_FALSE(parse_metrics_line(line)) << line;
}

TEST(IsRepeatable, LeavesOutClocksAndCaches) {
  for (const char* const name : {"time", "time_s/learn", "perf/tokens_per_s", "cache/hit_rate"})
    EXPECT_FALSE(is_repeatable(name)) << name;
  for (const char* const name : {"iteration", "reward/mean", "times", "actor/perf/x"})
    EXPECT_TRUE(is_repeatable(name)) << name;
}

TEST(MetricsWriter, ForgetsWhatCameAfterTheCheckpoint) {
  const test::ScratchFolder folder;
  const auto path = folder / "metrics.jsonl";
  {
    auto writer = MetricsWriter::open(path, 0);
    for (int i = 1; i <= 5; ++i) ASSERT_TRUE(writer->append(metrics_of(i)));
  }
  std::ofstream(path, std::ios::app) << "{\"iteration\":6,\"sta";
  ASSERT_TRUE(MetricsWriter::open(path, 3)->append(metrics_of(4)));
  std::string expected;
  for (int i = 1; i <= 4; ++i) expected += metrics_line(metrics_of(i)) + "\n";
  EXPECT_EQ(read_file(path), expected);
}

}  // namespace
}  // namespace krl::core
