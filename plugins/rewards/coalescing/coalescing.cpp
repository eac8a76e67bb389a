// Pays for coalesced access to global memory: the share of the 32-byte sectors touched by a warp's
// requests that they need.
#include <cmath>
#include <kernelrl/sdk.hpp>

struct Coalescing final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_MEMORY;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  double ideal = 4;
  static constexpr auto config = krl::config(
      krl::opt(
          "ideal", &Coalescing::ideal,
          "sectors per request for the full score where the backend does not count by width: 4 for 4-byte accesses, 8 for 8, 16 for 16")
          .range(1, 16));

  // `coalescing`, counted by the width of each access, or else min(1, ideal / sectors per request):
  // in 0..1; 0 without a counter.
  double score(const krl::Turn& turn) override {
    if (const auto share = turn.evaluation().value("coalescing"))
      return std::isfinite(*share) ? std::clamp(*share, 0.0, 1.0) : 0;
    const double sectors = turn.evaluation().value("sectors_per_request").value_or(0);
    return sectors > 0 ? std::min(1.0, ideal / sectors) : 0;
  }
};

KRL_PLUGIN("coalescing", "1.0.0",
           krl::reward<Coalescing>("coalescing", "Pays for coalesced access to global memory"))
