// Pays for the share of the memory bandwidth that a kernel reaches.
#include <kernelrl/sdk.hpp>

struct Bandwidth final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_MEMORY;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  // DRAM bytes per second over the device's peak, limited to 0..1; 0 without the counter.
  double score(const krl::Turn& turn) override {
    const double fraction = turn.evaluation().value("bandwidth_fraction").value_or(0);
    return fraction > 0 ? std::min(1.0, fraction) : 0;
  }
};

KRL_PLUGIN("bandwidth", "1.0.0",
           krl::reward<Bandwidth>("bandwidth", "Pays for the share of the bandwidth reached"))
