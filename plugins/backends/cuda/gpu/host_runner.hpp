// Starts runners, and validates the answers of one whose candidate has host code. It uses the
// protocol of all runners, but once it has loaded a candidate, its output may come from the
// candidate.
#pragma once

#include <cstdint>
#include <kernelrl/checked.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"

namespace krl::cuda {

// No answer after the first is larger.
inline constexpr std::uint32_t kMostHostAnswerBytes = 4096;

// The program `runner` in the sandbox: it sees the devices of GPUs and these libraries, each a
// file, no other files, no network and no other process, and cannot start any. It has a share of
// the processors.
process::Command sandboxed_runner(const std::string& sandbox, const std::string& runner,
                                  std::vector<std::string> environment, std::uint32_t cpu_seconds,
                                  const std::vector<std::string>& libraries);

// Unpredictable for a runner.
std::uint64_t secret_number();

// The result of a request, if `answer` bears its ticket: null, as such a process is asked nothing
// that it would have to be believed; or so many numbers, where they are to be had as they come. A
// missing answer is a kDied.
Checked<nlohmann::json, RunnerFailure> host_answer(std::uint64_t ticket,
                                                   const std::optional<nlohmann::json>& answer,
                                                   std::size_t numbers = 0);

// Returns how a process that no longer answers ended; one that is still alive is killed, because
// its `deadline` is over.
process::Ending ending_of(process::Subprocess& process);

}  // namespace krl::cuda
