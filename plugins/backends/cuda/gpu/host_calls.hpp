// Calls of a candidate's host code, timed with the clock of this process, because anything reported
// by the candidate's process may be forged. The overhead of a call is known from the checker, which
// times calls that do nothing.
#pragma once

#include <cstdint>
#include <kernelrl/checked.hpp>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"

namespace krl::cuda {

// In ns: until the work of all calls was done, and then until their outputs were at their places.
// `waking`: before, until the GPU had turned to the runner, which is not the calls' time.
struct CallTimes {
  double calls = 0, outputs = 0, waking = 0;
};

// The time of some calls, and the least time of as many empty ones. Per call, at least 1 ns.
double ns_of_call(const CallTimes& took, const CallTimes& least, std::size_t calls);

// Counts as time of the calls what exceeds the longest waking: the candidate may have prolonged it.
CallTimes with_late_waking(CallTimes times);

// By how much that may be less than the truth, as a part of it: while the runner is woken, and until
// its work is looked at, some time goes by in which it may be done.
double doubt_of(double ns_of_call, std::size_t calls, double waking = 0);

// How many calls a batch has to make so that their time can be told from ours.
std::uint32_t calls_of_batch(double ns_of_call, std::uint64_t set_bytes, std::uint64_t arena_bytes);

// Lays out the sets and calls what is loaded on the first `calls` of them, in order.
Checked<CallTimes, RunnerFailure> call_host_code(Gpu& gpu, const gpu::Stage& stage,
                                                 std::size_t calls);
// The same without a candidate, in the checker: the best of some.
CallTimes rehearse(Gpu& gpu, const gpu::Calls& calls);

}  // namespace krl::cuda
