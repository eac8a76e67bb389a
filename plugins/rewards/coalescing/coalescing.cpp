// Pays for coalesced access to global memory, from the 32-byte sectors moved by a warp's requests.
#include <kernelrl/sdk.hpp>

struct Coalescing final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_MEMORY;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  double ideal = 4;
  static constexpr auto config = krl::config(
      krl::opt("ideal", &Coalescing::ideal,
               "sectors per request for the full score: 4 for 4-byte elements, 8 for 8, 16 for 16")
          .range(1, 16));

  // min(1, ideal / sectors per request), in 0..1: the share of the moved bytes that 32 threads with
  // neighbouring elements would have needed. 0 without the counter.
  double score(const krl::Turn& turn) override {
    const double sectors = turn.evaluation().value("sectors_per_request").value_or(0);
    return sectors > 0 ? std::min(1.0, ideal / sectors) : 0;
  }
};

KRL_PLUGIN("coalescing", "1.0.0",
           krl::reward<Coalescing>("coalescing", "Pays for coalesced access to global memory"))
