// Kernels whose arithmetic is right, in many orders of summation and with the approximations that
// are common on GPUs, and kernels whose arithmetic is wrong: dropped terms, half precision,
// truncated loops, shortcuts for tame inputs. First line: the task. bench/tolerance_bench.cpp
// judges the same kernels on any backend and at any size.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kOneEvaluation = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
constexpr std::uint32_t kAllShapes = kOneEvaluation | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;

const CpuInstance& backend() {
  static const CpuInstance instance(Table{{"cache", "off"}});
  return instance;
}

fs::path folder(const char* name) {
  return fs::path(KERNELRL_SOURCE_DIR) / "tests" / "tolerance" / name;
}

std::vector<std::string> kernels_in(const char* name) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder(name)))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

Outcome judged(const fs::path& path, std::uint32_t stages) {
  std::ifstream file(path);
  const std::string source(std::istreambuf_iterator<char>(file), {});
  constexpr std::string_view kPrefix = "// task: ";
  const std::string task =
      source.substr(kPrefix.size(), source.find('\n') - std::min(kPrefix.size(), source.size()));
  return backend().evaluate(all_tasks().at(task), source, stages);
}

class RightArithmetic : public ::testing::TestWithParam<std::string> {};

TEST_P(RightArithmetic, PassesAtAllShapes) {
  const Outcome outcome = judged(folder("right") / (GetParam() + ".cu"), kAllShapes);
  EXPECT_EQ(outcome.verdict, KRL_VERDICT_OK) << outcome.why << "\n" << outcome.log;
}

INSTANTIATE_TEST_SUITE_P(Kernels, RightArithmetic, ::testing::ValuesIn(kernels_in("right")),
                         [](const auto& info) { return info.param; });

class WrongArithmetic : public ::testing::TestWithParam<std::string> {};

TEST_P(WrongArithmetic, IsRefusedByOneEvaluation) {
  const Outcome outcome = judged(folder("wrong") / (GetParam() + ".cu"), kOneEvaluation);
  EXPECT_EQ(outcome.verdict, KRL_VERDICT_WRONG_RESULT) << outcome.why << "\n" << outcome.log;
}

INSTANTIATE_TEST_SUITE_P(Kernels, WrongArithmetic, ::testing::ValuesIn(kernels_in("wrong")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl::testing
