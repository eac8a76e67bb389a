// Pays for the format of the answer, so that the kernel in it is found without guessing.
#include <kernelrl/sdk.hpp>

struct Format final : krl::Reward {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  double tolerated = 0.5;
  double missing = 0;
  static constexpr auto config = krl::config(
      krl::opt("tolerated", &Format::tolerated,
               "score if a kernel was found, but not in the exact form")
          .range(-1, 1),
      krl::opt("missing", &Format::missing, "score if there is no kernel, or a truncated one")
          .range(-1, 1));

  // 1 for <KERNEL> tags around one fenced block, else `tolerated` or `missing`.
  double score(const krl::Turn& turn) override {
    if (turn.format() == KRL_FORMAT_EXACT) return 1;
    return turn.format() == KRL_FORMAT_TOLERATED ? tolerated : missing;
  }
};

KRL_PLUGIN("format", "1.0.0",
           krl::reward<Format>("format", "Pays for answers in the requested form"))
