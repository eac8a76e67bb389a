// A penalty for kernels that use much shared memory, which leaves room for few blocks.
#include <kernelrl/sdk.hpp>

struct SharedMemory final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_SHARED_MEMORY;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  static constexpr double kMost = 227 * 1024;  // bytes a block, compute capability 9.0

  double limit = 48 * 1024;
  static constexpr auto config =
      krl::config(krl::opt("limit", &SharedMemory::limit, "bytes per block without a penalty")
                      .range(0, kMost - 1));

  // 0 up to `limit` bytes in the neediest kernel, falling to -1 at kMost.
  double score(const krl::Turn& turn) override {
    const double used = turn.evaluation().max_shared_bytes();
    return -std::clamp((used - limit) / (kMost - limit), 0.0, 1.0);
  }
};

KRL_PLUGIN("shared_memory", "1.0.0",
           krl::reward<SharedMemory>("shared_memory",
                                     "Penalises kernels that use much shared memory"))
