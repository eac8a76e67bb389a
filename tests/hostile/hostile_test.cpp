// Every kernel of kernels/*.cu against the real `cpu` plugin. Its first line says what it is and
// what must come of it: "// task: ID expect: VERDICT", or several verdicts with '|' between them
// where the order of checks may differ between backends.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/process/descriptor.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/tests/hostile/kernels")) {
    names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Hostile : public ::testing::TestWithParam<std::string> {};

TEST_P(Hostile, GetsItsVerdict) {
  static const CpuInstance backend(Table{{"cache", "off"}, {"compile_timeout", 3.0}});
  const std::string source =
      read_file(KERNELRL_SOURCE_DIR "/tests/hostile/kernels/" + GetParam() + ".cu");
  std::istringstream first_line(source);
  std::string slashes, task_word, task, expect_word, expected;
  first_line >> slashes >> task_word >> task >> expect_word >> expected;
  ASSERT_EQ(task_word, "task:");
  ASSERT_EQ(expect_word, "expect:");

  const Outcome outcome = backend.evaluate(all_tasks().at(task), source);
  const std::string verdict(verdict_name(outcome.verdict));
  EXPECT_NE(("|" + expected + "|").find("|" + verdict + "|"), std::string::npos)
      << verdict << ": " << outcome.why << "\n"
      << outcome.log;
  EXPECT_EQ(outcome.verdicts, 1);
  EXPECT_EQ(outcome.why.empty(), outcome.verdict == KRL_VERDICT_OK);
  for (const char* secret : {KERNELRL_SOURCE_DIR, "/proc", "root:"}) {
    EXPECT_EQ(outcome.log.find(secret), std::string::npos) << outcome.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Hostile, ::testing::ValuesIn(kernel_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace krl::testing
