// A bonus for warp shuffles that did not cost speed. The `cpu` backend counts executed shuffles, the
// CUDA backends those in the compiled code: there unused ones score as well, if they take no time.
#include <kernelrl/sdk.hpp>

struct WarpShuffle final : krl::Reward {
  static constexpr std::uint32_t needs =
      KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME | KRL_SIGNAL_INSTRUCTIONS;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  // 1 if the kernel is right, not slower than the baseline, and has shuffles; else 0.
  double score(const krl::Turn& turn) override {
    const krl::Evaluation evaluation = turn.evaluation();
    const bool shuffled = evaluation.value("shuffles").value_or(0) > 0;
    return evaluation.passed() && evaluation.speedup() >= 1 && shuffled ? 1 : 0;
  }
};

KRL_PLUGIN("warp_shuffle", "1.0.0",
           krl::reward<WarpShuffle>("warp_shuffle", "A bonus for warp shuffles that pay off"))
