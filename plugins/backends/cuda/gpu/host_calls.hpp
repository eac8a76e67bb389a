// Calls of a candidate's host code, timed with the clock of this process, because anything reported
// by the candidate's process may be forged. The overhead of a call is known from the checker, which
// times calls that do nothing.
#pragma once

#include <cstdint>
#include <kernelrl/checked.hpp>
#include <optional>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"

namespace krl::cuda {

// Consecutive times in ns: until the work of all calls was done, until their outputs were in place,
// and until the checker had copied them. `waking` comes before: until the GPU had switched to the
// runner.
struct CallTimes {
  double calls = 0, outputs = 0, fetched = 0, waking = 0;
};

// The time of some calls, and the least time of as many empty ones. Per call, at least 1 ns. That
// the GPU turns to the runner, and then to the checker, is not the calls' time, unless it takes
// longer than it does where nothing runs: the candidate may have prolonged it, and have worked
// meanwhile.
double ns_of_call(const CallTimes& took, const CallTimes& least, std::size_t calls);

// Returns how long work may have continued without being counted.
double unseen_ns(const CallTimes& took, const CallTimes& least);

// Returns by which fraction the measured time of calls may therefore be too short.
double doubt_of(double ns_of_call, std::size_t calls, double unseen);

// Returns how many calls a batch needs so that their time can be told from ours.
std::uint32_t calls_of_batch(double ns_of_call, std::uint64_t set_bytes, std::uint64_t arena_bytes);

// Lays out the sets, calls the loaded code on the first `calls` of them, in order, and has the
// checker fetch all sets. The candidate's process runs only from the first of its requests to the
// last. Work that continues for long afterwards is a failure.
Checked<CallTimes, RunnerFailure> call_host_code(Gpu& gpu, const gpu::Stage& stage,
                                                 std::size_t calls);
// Ends the process of a candidate, whose work must be over. A failure if it was not, as the GPU
// tells the checker: for a second after the last answer, but no longer after the process's end.
std::optional<RunnerFailure> end_host_code(Gpu& gpu);

// The same without a candidate, in the checker: the best of some. REQUIRES: no candidate's process
// lives, which could make them slower.
CallTimes rehearse(Gpu& gpu, const gpu::Program& program, const std::vector<std::uint64_t>& places);

}  // namespace krl::cuda
