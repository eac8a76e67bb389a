// Pays for a kernel that compiles.
#include <kernelrl/sdk.hpp>

struct Compile final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_COMPILE;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  // Scores 1 if the compiler accepted the kernel, even if it failed later, else 0.
  double score(const krl::Turn& turn) override { return turn.evaluation().compiled() ? 1 : 0; }
};

KRL_PLUGIN("compile", "1.0.0", krl::reward<Compile>("compile", "Pays for kernels that compile"))
