// A penalty for compiler warnings.
#include <kernelrl/sdk.hpp>

struct Warnings final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_COMPILE;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  double each = 0.1;
  double cap = 1;
  static constexpr auto config =
      krl::config(krl::opt("each", &Warnings::each, "penalty of one warning").range(0, 1),
                  krl::opt("cap", &Warnings::cap, "the largest penalty").range(0, 1));

  // -min(cap, each x number of warnings), in -cap..0.
  double score(const krl::Turn& turn) override {
    const auto diagnostics = turn.evaluation().diagnostics();
    int warnings = 0;
    for (const krl::Diagnostic& diagnostic : diagnostics) warnings += diagnostic.is_warning();
    return -std::min(cap, each * warnings);
  }
};

KRL_PLUGIN("warnings", "1.0.0", krl::reward<Warnings>("warnings", "Penalises compiler warnings"))
