// Pays for short kernels: replace it with what your runs should be paid for.
#include <kernelrl/sdk.hpp>

#include <algorithm>

struct NewComponent final : krl::Reward {
  double limit = 2000;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;
  static constexpr auto config = krl::config(
      krl::opt("limit", &NewComponent::limit, "characters that earn nothing").at_least(1));

  // Returns 1 for no source at all, falling to 0 at `limit` characters.
  double score(const krl::Turn& turn) override {
    return std::max(0.0, 1 - static_cast<double>(turn.source().size()) / limit);
  }
};

KRL_PLUGIN("new_component", "0.1.0",
           krl::reward<NewComponent>("new_vendor.new_component", "Pays for short kernels"))
