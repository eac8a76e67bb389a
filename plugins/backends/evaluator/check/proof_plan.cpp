#include "plugins/backends/evaluator/check/proof_plan.hpp"

namespace krl::evaluator {
namespace {

constexpr Distribution kDistributions[] = {Distribution::kAsGiven, Distribution::kHundredfold,
                                           Distribution::kHundredth, Distribution::kOddHalves};
constexpr RunOrder kOrders[] = {RunOrder::kForward, RunOrder::kReversed, RunOrder::kShuffled,
                                RunOrder::kLockstep, RunOrder::kDrawn};
constexpr std::size_t kSeeds = 2;

}  // namespace

std::vector<PlannedRun> plan_proof(const PreparedTask& asked, std::uint64_t seed) {
  const std::uint64_t shared = mix_seed(mix_seed(seed, asked.digest), "proof");
  std::vector<PlannedRun> runs;
  for (std::size_t c = 0; c < asked.cases.size(); ++c) {
    for (const Distribution distribution : kDistributions) {
      for (std::size_t s = 0; s < kSeeds; ++s) {
        const std::size_t turn = runs.size() + c;  // no distribution always meets the same order
        runs.push_back({c, mix_seed(mix_seed(shared, asked.cases[c].label), s), distribution,
                        kOrders[turn % std::size(kOrders)], false});
      }
    }
  }
  return runs;
}

}  // namespace krl::evaluator
