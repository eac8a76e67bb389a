// Pays for being faster than what the episode has shown: the kernel it began with, or its own.
#include <kernelrl/sdk.hpp>

struct Improvement final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_TIME;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  // log2 of the speedup over the fastest right kernel of the earlier turns, so that a copy earns
  // nothing; 0 where it is slower, or not right, or no earlier kernel is.
  double score(const krl::Turn& turn) override {
    double fastest = 0;
    for (auto earlier = turn.previous(); earlier; earlier = earlier->previous())
      fastest = std::max(fastest, speedup_of(*earlier));
    const double own = speedup_of(turn);
    return fastest > 0 && own > fastest ? std::log2(own / fastest) : 0;
  }

 private:
  // 0 if the kernel did not pass, or was not timed.
  static double speedup_of(const krl::Turn& turn) {
    const krl::Evaluation evaluation = turn.evaluation();
    const double speedup = evaluation.speedup();
    return evaluation.passed() && std::isfinite(speedup) ? speedup : 0;
  }
};

KRL_PLUGIN("improvement", "1.0.0",
           krl::reward<Improvement>("improvement",
                                    "Pays for being faster than the kernels of earlier turns"))
