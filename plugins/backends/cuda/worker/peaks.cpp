#include "plugins/backends/cuda/worker/peaks.hpp"

#include <algorithm>

namespace krl::gpu {
using namespace evaluator;
namespace {

constexpr int kTries = 5;
// Bytes of an array: many times any L2.
constexpr std::uint64_t kMostMoved = std::uint64_t{256} << 20;
constexpr std::uint64_t kMovedAtOnce = 16;  // bytes moved by a thread, in one go
// Enough threads for any GPU. Each has eight chains, and a round is a multiply and an add of each.
constexpr std::uint32_t kBlocks = 8192, kThreads = 128, kOperationsOfRound = 16;
constexpr std::uint32_t kMostRounds = 4096;
constexpr double kLongEnoughNs = 200'000;

double best_of(DeviceSession& session, const std::function<void()>& enqueue) {
  double best = session.time_call(enqueue);
  for (int i = 1; i < kTries; ++i) best = std::min(best, session.time_call(enqueue));
  return std::max(best, 1.0);
}

// Takes the better of a copy and an addition: memory that is read more than written may be faster.
double moved_bytes_per_ns(DeviceSession& session) {
  CUfunction copy = session.trusted("krl_copy"), add = session.trusted("krl_add");
  std::uint64_t elements = std::min(session.arena_bytes() / 3, kMostMoved) / kMovedAtOnce;
  const std::uint64_t bytes = elements * kMovedAtOnce;
  CUdeviceptr from = session.arena(), to = from + bytes, more = to + bytes;
  void* copied[] = {&from, &to, &elements};
  void* added[] = {&from, &more, &to, &elements};
  const auto ns_of = [&](CUfunction kernel, void** arguments) {
    const auto blocks = static_cast<unsigned>((elements + kThreads - 1) / kThreads);
    return best_of(session, [&] {
      KRL_CUDA(cuLaunchKernel, kernel, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments,
               nullptr);
    });
  };
  return static_cast<double>(bytes) * std::max(2 / ns_of(copy, copied), 3 / ns_of(add, added));
}

double operations_per_ns(DeviceSession& session) {
  CUfunction multiply_add = session.trusted("krl_multiply_add");
  CUdeviceptr out = session.arena();
  float x = 0.5f, y = 1.0f;
  for (std::uint32_t rounds = 1;; rounds *= 2) {
    void* arguments[] = {&out, &x, &y, &rounds};
    const double ns = best_of(session, [&] {
      KRL_CUDA(cuLaunchKernel, multiply_add, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments,
               nullptr);
    });
    const double operations = 1.0 * kBlocks * kThreads * kOperationsOfRound * rounds;
    if (ns >= kLongEnoughNs || rounds >= kMostRounds) return operations / ns;
  }
}

}  // namespace

Peaks measure_peaks(DeviceSession& session) {
  return {moved_bytes_per_ns(session), operations_per_ns(session)};
}

}  // namespace krl::gpu
