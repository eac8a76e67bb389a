// What the machine computes for a program: a failure of the test if it faults.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "plugins/backends/cpu/machine/job_runner.hpp"
#include "tests/conformance/program.hpp"

namespace krl::conformance {

// The memory of a job: the inputs, then the results of the program that runs.
class MachineResults {
 public:
  MachineResults() {
    const std::vector<std::uint64_t> words = inputs();
    input_bytes_ = words.size() * sizeof(words[0]);
    arena_.resize(input_bytes_ + kMostResultBytes);
    std::memcpy(arena_.data(), words.data(), input_bytes_);
  }

  std::vector<std::uint64_t> of(const Program& program) {
    std::vector<std::uint64_t> results(program.result_words());
    const std::size_t bytes = results.size() * sizeof(results[0]);
    std::memset(results_at(), 0, bytes);
    const cpu::Result result =
        machine::run_job(job_of(program, bytes), module_text({program}, 0, 1), arena_);
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
  cpu::Job job_of(const Program& program, std::size_t bytes) const {
    cpu::Buffer in{"inputs", 0, input_bytes_, 8, false, cpu::Role::kInput};
    cpu::Buffer out{"results", input_bytes_, bytes, 8, true, cpu::Role::kInOut};
    cpu::Launch launch;
    launch.grid = {program.blocks, 1, 1};
    launch.block = {program.threads, 1, 1};
    launch.arguments = {cpu::BufferArgument{0}, cpu::BufferArgument{1}};
    cpu::Job job;
    job.kernels = {program.name};
    job.runs.push_back({{in, out}, {launch}});
    return job;
  }

  std::vector<std::byte> arena_;
  std::size_t input_bytes_ = 0;
};

}  // namespace krl::conformance
