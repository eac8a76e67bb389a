// The machine, at one level of vector instructions, against what an H200 gave for the same
// programs: bit for bit, within the ISA's bounds where it gives bounds. What differs and is not in
// known_differences.txt fails, as does what is listed there and agrees.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

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

// known_differences.txt: of a program's name, the registers in which it may differ.
std::map<std::string, std::string> known_differences() {
  std::map<std::string, std::string> known;
  std::istringstream lines(contents_of("known_differences.txt"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (!line.starts_with('#')) known[line.substr(0, space)] = line.substr(space);
  }
  return known;
}

bool processor_has_level() {
  const std::string_view level = KERNELRL_MACHINE_LEVEL;
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
  const auto known = known_differences();
  std::size_t found = 0;
  for (const Program& program : programs) {
    std::string differing;
    for (const std::string& text : reader.differences(program, machine.of(program))) {
      differing += text.substr(program.name.size());
    }
    const auto listed = known.find(program.name);
    const std::string expected = listed == known.end() ? "" : listed->second;
    if (differing == expected || ++found > kMostDifferencesShown) continue;
    ADD_FAILURE() << program.name << ": these differ:" << differing
                  << "\nthese are listed in known_differences.txt:" << expected;
  }
  EXPECT_EQ(found, 0u) << "programs in all";
}

}  // namespace
}  // namespace krl::conformance
