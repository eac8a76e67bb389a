// Pays for the share of the roofline: how close a kernel is to the limits of its GPU, whatever the
// baseline.
#include <kernelrl/sdk.hpp>

struct Roofline final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_TIME;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  // The mean over the timed cases of log2(1 + 255 share) / 8: nearly 1 + log2(share) / 8 down to a
  // share of 1/255, and below that a straight line to 0, so that faster is better everywhere. 0 for
  // a kernel that did not pass, or whose share was not measured.
  double score(const krl::Turn& turn) override {
    const krl::Evaluation evaluation = turn.evaluation();
    if (!evaluation.passed()) return 0;
    double sum = 0;
    int cases = 0;
    for (const krl::Value& value : evaluation.values) {
      if (value.name == "roofline" && value.value > 0) sum += paid(value.value), ++cases;
    }
    return cases == 0 ? 0 : sum / cases;
  }

 private:
  static double paid(double share) { return std::log2(1 + 255 * std::min(share, 1.0)) / 8; }
};

KRL_PLUGIN("roofline", "1.0.0",
           krl::reward<Roofline>("roofline", "Pays for the share of the roofline reached"))
