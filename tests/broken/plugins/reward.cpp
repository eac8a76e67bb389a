// A reward that pays for a right kernel, and what can be wrong with one.
#include <kernelrl/reward.hpp>

#include <limits>

#include "tests/broken/plugins/trouble.hpp"

namespace broken {
namespace {

constexpr char kScore[] = "score";

struct Reward final : krl::Reward, Trouble {
  using Base = krl::Reward;
  static constexpr std::uint32_t needs = KRL_SIGNAL_CORRECTNESS;
  static constexpr auto config = options("score|create|destroy");
  Reward() { at = kScore; }

  double score(const krl::Turn& turn) override {
    if (is("nan")) return krl::kUnknown;
    if (is("infinity")) return std::numeric_limits<double>::infinity();
    if (is("minus infinity")) return -std::numeric_limits<double>::infinity();
    if (is("1e308")) return 1e308;
    return turn.evaluation().passed() ? 1 : 0;
  }
};

constexpr krl_reward_v kTable{sizeof(krl_reward_v), Reward::needs,
                              Troubled<Reward, kScore, krl::detail::score>::call};

const krl_component* component() {
  static const krl_component c =
      troubled<Reward>(krl::reward<Reward>("broken.reward", "Pays for a right kernel"), &kTable);
  return &c;
}

}  // namespace
}  // namespace broken

KRL_PLUGIN("broken_reward", "1.0.0", broken::component())
