// The machine, at one level of vector instructions, against what an H200 gave for the same
// programs: bit for bit, within the ISA's bounds where it gives bounds.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plugins/backends/cpu/machine/job_runner.hpp"
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

// The memory of a job: the inputs, then the results of the program that runs.
class Machine {
 public:
  Machine() {
    const std::vector<std::uint64_t> words = inputs();
    input_bytes_ = words.size() * sizeof(words[0]);
    arena_.resize(input_bytes_ + kMostResultBytes);
    std::memcpy(arena_.data(), words.data(), input_bytes_);
  }

  // A program of the module `text`.
  std::vector<std::uint64_t> run(const Program& program, const std::string& text) {
    std::vector<std::uint64_t> results(program.result_words());
    const std::size_t bytes = results.size() * sizeof(results[0]);
    std::memset(results_at(), 0, bytes);
    const emulator::Result result = machine::run_job(job_of(program, bytes), text, arena_);
    if (result.fault) {
      ADD_FAILURE() << program.name << ": " << result.fault->message;
    }
    if (result.launch_error) ADD_FAILURE() << program.name << ": " << result.launch_error->message;
    std::memcpy(results.data(), results_at(), bytes);
    return results;
  }

 private:
  static constexpr std::size_t kMostResultBytes = 256 << 10;

  std::byte* results_at() { return arena_.data() + input_bytes_; }
  emulator::Job job_of(const Program& program, std::size_t bytes) const {
    emulator::Buffer in{"inputs", 0, input_bytes_, 8, false, emulator::Role::kInput};
    emulator::Buffer out{"results", input_bytes_, bytes, 8, true, emulator::Role::kInOut};
    emulator::Launch launch;
    launch.grid = {program.blocks, 1, 1};
    launch.block = {program.threads, 1, 1};
    launch.arguments = {emulator::BufferArgument{0}, emulator::BufferArgument{1}};
    emulator::Job job;
    job.kernels = {program.name};
    job.runs.push_back({{in, out}, {launch}});
    return job;
  }

  std::vector<std::byte> arena_;
  std::size_t input_bytes_ = 0;
};

TEST(Conformance, ResultsAreAGpus) {
  if (!processor_has_level()) GTEST_SKIP() << "this processor lacks " KERNELRL_MACHINE_LEVEL;
  const auto programs = all_programs(read_forms(contents_of("forms.txt")));
  const std::string record = contents_of("h200.record");
  ASSERT_GE(programs.size(), 5000u);
  RecordReader reader(record, programs);
  Machine machine;
  std::size_t found = 0;
  for (const Program& program : programs) {
    const auto results = machine.run(program, module_text({program}, 0, 1));
    for (const std::string& text : reader.differences(program, results)) {
      if (++found <= kMostDifferencesShown) ADD_FAILURE() << text;
    }
  }
  EXPECT_EQ(found, 0u) << "slots in all";
}

}  // namespace
}  // namespace krl::conformance
