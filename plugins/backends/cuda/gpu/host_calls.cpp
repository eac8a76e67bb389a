#include "plugins/backends/cuda/gpu/host_calls.hpp"

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

namespace krl::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBatchNs = 8e6;  // a round trip takes 0.1 ms, give or take some
// Upper bound on the time in which the GPU switches between processes: about 0.3 ms on an H100.
constexpr double kMostTurnNs = 500e3;
// From the last answer of one process to the first work of the other.
constexpr double kLookNs = 100e3;
constexpr double kLongestRestNs = 1e9;
constexpr std::uint64_t kMostCalls = 1024;
constexpr int kRehearsals = 8;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

RunnerFailure worked_on(double ns) {
  RunnerFailure failure;
  failure.trouble.host = gpu::Trouble::kItsWorkLeft;
  failure.trouble.message =
      "its work went on for " + std::to_string(std::llround(ns * 1e-6)) + " ms after its calls";
  return failure;
}

// Reports that the candidate left too little of the memory that was free before it came for the
// checker's own work.
std::optional<RunnerFailure> took_the_memory(Gpu& gpu) {
  const auto free = gpu.ask_checker("free_memory", nullptr).get<std::uint64_t>();
  if (free >= std::min(gpu.arena_bytes(), gpu.free_bytes_before() / 2)) return std::nullopt;
  gpu.replace_runner();
  RunnerFailure failure;
  failure.trouble.code = CUDA_ERROR_OUT_OF_MEMORY;
  failure.trouble.message = "it left " + std::to_string(free >> 20) + " MiB of the GPU's memory";
  return failure;
}

}  // namespace

double ns_of_call(const CallTimes& took, const CallTimes& least, std::size_t calls) {
  const double ns = took.calls - least.calls + std::max(took.outputs - least.outputs, 0.0) +
                    std::max(took.fetched - least.fetched - kMostTurnNs, 0.0) +
                    std::max(took.waking - kMostTurnNs, 0.0);
  return std::max(ns / static_cast<double>(calls), 1.0);
}

double unseen_ns(const CallTimes& took, const CallTimes& least) {
  return std::min(took.waking, kMostTurnNs) +
         std::clamp(took.fetched - least.fetched, kLookNs, kMostTurnNs);
}

double doubt_of(double ns_of_call, std::size_t calls, double unseen) {
  return unseen / (ns_of_call * static_cast<double>(calls) + unseen);
}

std::uint32_t calls_of_batch(double ns_of_call, std::uint64_t set_bytes,
                             std::uint64_t arena_bytes) {
  const auto wanted = static_cast<std::uint64_t>(kBatchNs / std::max(ns_of_call, 1.0)) + 1;
  const std::uint64_t room = std::max<std::uint64_t>(arena_bytes / 2 / set_bytes, 2) - 1;
  return static_cast<std::uint32_t>(std::min({wanted, kMostCalls, room}));
}

Checked<CallTimes, RunnerFailure> call_host_code(Gpu& gpu, const gpu::Stage& stage,
                                                 std::size_t calls) {
  gpu::Stage staged = stage;
  staged.runner = gpu.runner();
  gpu.pause_runner();
  if (const auto greedy = took_the_memory(gpu)) return *greedy;
  gpu.ask_checker("stage", staged);
  gpu::Calls request{stage.program.host, stage.places};
  request.places.resize(calls);
  CallTimes times;
  const auto staged_at = Clock::now();
  if (const auto woken = gpu.ask_runner("wake", nullptr); !woken) return woken.error();
  times.waking = since(staged_at);
  const auto start = Clock::now();
  if (const auto called = gpu.ask_runner("call", request); !called) return called.error();
  times.calls = since(start);
  const auto done = Clock::now();
  if (const auto placed = gpu.ask_runner("finish", nullptr); !placed) return placed.error();
  times.outputs = since(done);
  const auto placed_at = Clock::now();
  gpu.pause_runner();
  gpu.ask_checker("fetch", gpu::Fetch{staged.runner, stage.program.bytes, stage.places, {}});
  times.fetched = since(placed_at);
  const auto fetched_at = Clock::now();
  if (const auto recycled = gpu.ask_runner("recycle", nullptr); !recycled) return recycled.error();
  gpu.pause_runner();
  const double rest_ns = since(fetched_at);
  if (rest_ns > kLongestRestNs) {
    gpu.replace_runner();
    return worked_on(rest_ns);
  }
  if (const auto greedy = took_the_memory(gpu)) return *greedy;
  return times;
}

std::optional<RunnerFailure> end_host_code(Gpu& gpu) {
  const auto start = Clock::now();
  bool busy = !gpu.is_shared() && gpu.is_busy();
  while (busy && since(start) < kLongestRestNs) busy = gpu.is_busy();
  gpu.replace_runner();
  const bool others_are = busy && (gpu.is_busy() || gpu.is_busy() || gpu.is_busy());
  return busy && !others_are ? std::optional(worked_on(since(start))) : std::nullopt;
}

CallTimes rehearse(Gpu& gpu, const gpu::Program& program,
                   const std::vector<std::uint64_t>& places) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  CallTimes least{kNever, kNever, kNever};
  const gpu::Calls calls{program.host, places};
  for (int i = 0; i < kRehearsals; ++i) {
    const auto start = Clock::now();
    gpu.ask_checker("call", calls);
    least.calls = std::min(least.calls, since(start));
    const auto done = Clock::now();
    gpu.ask_checker("finish", nullptr);
    least.outputs = std::min(least.outputs, since(done));
    const auto placed_at = Clock::now();
    gpu.ask_checker("fetch", gpu::Fetch{0, program.bytes, places, {}});
    least.fetched = std::min(least.fetched, since(placed_at));
  }
  return least;
}

}  // namespace krl::cuda
