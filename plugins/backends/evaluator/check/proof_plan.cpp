#include "plugins/backends/evaluator/check/proof_plan.hpp"

#include "plugins/backends/evaluator/check/evaluation_plan.hpp"

namespace krl::evaluator {
namespace {

constexpr RunOrder kOrders[] = {RunOrder::kForward, RunOrder::kReversed, RunOrder::kShuffled,
                                RunOrder::kLockstep, RunOrder::kDrawn};

}  // namespace

std::vector<PlannedRun> plan_proof(const PreparedTask& asked, std::uint64_t seed) {
  const std::uint64_t shared = mix_seed(mix_seed(seed, asked.digest), "proof");
  std::vector<PlannedRun> runs;
  for (std::size_t c = 0; c < asked.cases.size(); ++c) {
    for (std::size_t d = 0; d < kDistributions; ++d) {
      const std::size_t turn = runs.size() + c;  // no distribution always meets the same order
      const auto distribution = suited(static_cast<Distribution>(d), asked.definition);
      runs.push_back({c, mix_seed(mix_seed(shared, asked.cases[c].label), d), distribution,
                      kOrders[turn % std::size(kOrders)], false});
    }
  }
  return runs;
}

}  // namespace krl::evaluator
