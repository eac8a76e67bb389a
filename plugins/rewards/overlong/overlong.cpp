// A penalty that grows as an answer nears its length limit, so that a model learns to end before it
// is cut off (DAPO, arXiv 2503.14476: soft overlong punishment).
#include <kernelrl/sdk.hpp>

struct Overlong final : krl::Reward {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::int64_t max_tokens = 0;
  double buffer = 0.2;
  static constexpr auto config = krl::config(
      krl::opt("max_tokens", &Overlong::max_tokens,
               "the limit, as in rollout.max_tokens; 0: only truncated answers are penalised")
          .at_least(0),
      krl::opt("buffer", &Overlong::buffer,
               "share of max_tokens before the limit in which tokens are penalised")
          .range(0, 1));

  // 0 up to max_tokens x (1 - buffer) tokens, from there in proportion down to -1 at max_tokens.
  double score(const krl::Turn& turn) override {
    if (turn.truncated()) return -1;
    if (max_tokens == 0) return 0;
    const auto tokens = static_cast<double>(turn.tokens().size());
    const auto most = static_cast<double>(max_tokens);
    if (tokens >= most) return -1;
    const double free = most * (1 - buffer);
    return tokens <= free ? 0 : (free - tokens) / (most - free);
  }
};

KRL_PLUGIN("overlong", "1.0.0",
           krl::reward<Overlong>("overlong", "Penalises answers close to their length limit"))
