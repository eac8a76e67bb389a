// A penalty for a kernel that did not end in time.
#include <kernelrl/sdk.hpp>

struct Timeout final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_CORRECTNESS;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  // -1 if the verdict is `timeout`, else 0.
  double score(const krl::Turn& turn) override {
    return turn.evaluation().verdict == krl::Verdict::kTimeout ? -1 : 0;
  }
};

KRL_PLUGIN("timeout", "1.0.0",
           krl::reward<Timeout>("timeout", "Penalises kernels that exceed the time limit"))
