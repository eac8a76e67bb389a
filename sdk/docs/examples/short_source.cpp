#include <kernelrl/sdk.hpp>

struct ShortSource final : krl::Reward {
  double limit = 2000;
  static constexpr auto config = krl::config(
      krl::opt("limit", &ShortSource::limit, "characters that earn nothing").at_least(1));
  // 1 for no source at all, falling to 0 at `limit` characters.
  double score(const krl::Turn& turn) override {
    return std::max(0.0, 1 - static_cast<double>(turn.source().size()) / limit);
  }
};
KRL_PLUGIN("short_source", "1.0.0",
           krl::reward<ShortSource>("example.short_source", "Pays for short kernels"))
