// One job in a process of its own: starts `kernelrl-machine` in its sandbox, and validates the result.
// Thread-safe; the process has ended when a call returns.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <kernelrl/launch.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/cpu/machine_protocol.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/process/shared_memory.hpp"

namespace krl::cpu {

struct MachineOptions {
  std::string launcher, program;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  std::chrono::milliseconds time_limit{30'000};  // processor time
  std::uint64_t work_limit = 50'000'000;
  std::uint32_t max_shared_bytes = 48 << 10;   // limit of the modelled GPU
  PathClocks path_clocks = Job().path_clocks;  // …
};

// The limit on the arena of a job, in bytes.
inline constexpr std::uint64_t kMaxArenaBytes = std::uint64_t{2} << 30;

// Returns the space of a buffer in the arena, with a gap after it, so that the end of one is never
// the start of the next.
inline std::uint64_t place_of(std::uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment + kBufferAlignment;
}

// A launch without its arguments and resident blocks. `kernels`: names of the job's, as launches
// spell them.
Launch shape_of(const ResolvedLaunch& launch, const std::vector<std::string>& kernels);

// `buffer`: the index of the map's buffer in the run.
TensorMapArgument tensor_map_of(const ResolvedTensorMap& map, std::uint32_t buffer);

// The complete and consistent result of a job; or, if the code is the reason that there is none, why.
struct JobOutcome {
  std::optional<Result> result;
  Verdict verdict = Verdict::kOk;
  std::string why;
};

// `fill` sets the arena before each attempt: a job is tried twice if something else ended the first
// one. Throws Failure(KRL_UNAVAILABLE) if the machine could not do its work, KRL_CANCELLED.
JobOutcome execute_job(const MachineOptions& options, const Job& job, std::string_view ptx,
                       const process::SharedMemory& arena, const std::function<void()>& fill,
                       const std::function<bool()>& cancelled);

}  // namespace krl::cpu
