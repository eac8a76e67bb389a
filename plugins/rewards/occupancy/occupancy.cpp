// Pays for theoretical occupancy: the share of a multiprocessor's threads that the kernel can fill.
#include <kernelrl/sdk.hpp>

struct Occupancy final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_OCCUPANCY;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  double target = 1;
  static constexpr auto config = krl::config(
      krl::opt("target", &Occupancy::target, "occupancy for the full score").range(0.05, 1));

  // min(1, occupancy / target) of the kernel that fills least, in 0..1; 0 where it is unknown.
  double score(const krl::Turn& turn) override {
    const double occupancy = turn.evaluation().min_occupancy();
    return occupancy > 0 ? std::min(1.0, occupancy / target) : 0;
  }
};

KRL_PLUGIN("occupancy", "1.0.0",
           krl::reward<Occupancy>("occupancy", "Pays for theoretical occupancy"))
