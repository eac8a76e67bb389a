#include "plugins/backends/cuda/gpu/host_calls.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace krl::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBatchNs = 5e6;         // the way there and back takes 0.1 ms, give or take some
constexpr double kLookNs = 100e3;        // between an answer and the first look at what was done
constexpr double kMostWakingNs = 500e3;  // on an H100 some 300e3
constexpr std::uint64_t kMostCalls = 1024;
constexpr int kRehearsals = 5;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace

double ns_of_call(const CallTimes& took, const CallTimes& least, std::size_t calls) {
  const double ns = took.calls - least.calls + std::max(took.outputs - least.outputs, 0.0);
  return std::max(ns / static_cast<double>(calls), 1.0);
}

CallTimes with_late_waking(CallTimes times) {
  times.calls += std::max(times.waking - kMostWakingNs, 0.0);
  times.waking = std::min(times.waking, kMostWakingNs);
  return times;
}

double doubt_of(double ns_of_call, std::size_t calls, double waking) {
  const double unseen = kLookNs + waking;
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
  return with_late_waking(times);
}

CallTimes rehearse(Gpu& gpu, const gpu::Calls& calls) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  CallTimes least{kNever, kNever};
  for (int i = 0; i < kRehearsals; ++i) {
    const auto start = Clock::now();
    gpu.ask_checker("call", calls);
    least.calls = std::min(least.calls, since(start));
    const auto done = Clock::now();
    gpu.ask_checker("finish", nullptr);
    least.outputs = std::min(least.outputs, since(done));
  }
  return least;
}

}  // namespace krl::cuda
