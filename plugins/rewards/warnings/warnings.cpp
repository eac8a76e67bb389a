// A penalty for compiler warnings.
#include <kernelrl/sdk.hpp>

struct Warnings final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_COMPILE;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  double each = 0.1;
  double cap = 1;
  static constexpr auto config =
      krl::config(krl::opt("each", &Warnings::each, "penalty per warning").range(0, 1),
                  krl::opt("cap", &Warnings::cap, "the largest penalty").range(0, 1));

  // -min(cap, each x number of warnings), in -cap..0.
  double score(const krl::Turn& turn) override {
    const krl::Evaluation evaluation = turn.evaluation();
    const auto warnings =
        std::count_if(evaluation.diagnostics.begin(), evaluation.diagnostics.end(),
                      [](const krl::Diagnostic& d) { return d.severity == KRL_SEVERITY_WARNING; });
    return -std::min(cap, each * static_cast<double>(warnings));
  }
};

KRL_PLUGIN("warnings", "1.0.0", krl::reward<Warnings>("warnings", "Penalises compiler warnings"))
