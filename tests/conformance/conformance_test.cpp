// The machine, at one level of vector instructions, against what an H200 gave for the same
// programs: bit for bit, within the ISA's bounds where it gives bounds.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/conformance/machine_results.hpp"
#include "tests/conformance/record.hpp"

namespace krl::conformance {
namespace {

constexpr std::size_t kProgramsOfModule = 64;
constexpr std::size_t kMostDifferencesShown = 40;

std::string contents_of(const std::string& name) {
  std::ifstream file(KERNELRL_SOURCE_DIR "/tests/conformance/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool processor_has_level() {
  const std::string_view level = KERNELRL_MACHINE_LEVEL;
  if (level == "x86-64-v4") {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
  return level == "x86-64" || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

TEST(Conformance, ResultsAreAGpus) {
  if (!processor_has_level()) GTEST_SKIP() << "this processor lacks " KERNELRL_MACHINE_LEVEL;
  const auto programs = all_programs(read_forms(contents_of("forms.txt")));
  const std::string record = contents_of("h200.record");
  ASSERT_GE(programs.size(), 5000u);
  if (record.empty()) GTEST_SKIP() << "no GPU's results are recorded (recorder.cpp)";
  RecordReader reader(record, programs);
  MachineResults machine;
  std::size_t found = 0;
  for (const Program& program : programs) {
    const auto results = machine.of(program);
    for (const std::string& text : reader.differences(program, results)) {
      if (++found <= kMostDifferencesShown) ADD_FAILURE() << text;
    }
  }
  EXPECT_EQ(found, 0u) << "slots in all";
}

}  // namespace
}  // namespace krl::conformance
