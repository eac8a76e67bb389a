#include "plugins/backends/evaluator/check/run_plan.hpp"

#include <algorithm>

namespace krl::evaluator {
namespace {

constexpr Distribution kOthers[] = {Distribution::kHundredfold, Distribution::kHundredth,
                                    Distribution::kOddHalves};
constexpr std::size_t kOtherCount = 3;

}  // namespace

std::vector<PlannedRun> plan_runs(std::size_t cases, std::size_t holdouts,
                                  std::size_t runs_per_case, const RunSeeds& seeds) {
  std::vector<PlannedRun> runs;
  const auto own_seed = [&](std::size_t case_index, std::size_t run) {
    return mix_seed(mix_seed(seeds.own, case_index), run);
  };
  for (std::size_t c = 0; c < cases; ++c) {
    runs.push_back({c, mix_seed(mix_seed(seeds.shared, c), 0), Distribution::kAsGiven,
                    RunOrder::kForward, true});
  }
  const std::size_t further =
      runs_per_case <= 1 || cases == 0 ? 0 : std::max(kOtherCount, cases * (runs_per_case - 1));
  for (std::size_t e = 0; e < further; ++e) {
    const std::size_t c = e % cases, round = e / cases;
    // The last case, the largest as a rule, meets the last one, which sees most there. Where the
    // cases are a multiple of three, a case would meet the same one in each round.
    const std::size_t shift = 2 * cases + (cases % kOtherCount == 0 ? round : 0);
    const RunOrder order = e % 2 == 0 ? RunOrder::kReversed : RunOrder::kShuffled;
    runs.push_back({c, own_seed(c, round + 1), kOthers[(e + shift) % kOtherCount], order, false});
  }
  for (std::size_t h = 0; h < holdouts; ++h) {
    const std::size_t c = cases + h;
    runs.push_back({c, own_seed(c, 0), Distribution::kAsGiven, RunOrder::kShuffled, false});
  }
  std::stable_sort(runs.begin(), runs.end(), [](const PlannedRun& a, const PlannedRun& b) {
    return a.case_index < b.case_index;
  });
  return runs;
}

std::vector<PlannedRun> with_poisons(const std::vector<PlannedRun>& runs) {
  std::uint64_t poison = 0;
  for (const PlannedRun& run : runs) poison = mix_seed(poison, run.seed);
  std::vector<PlannedRun> poisoned;
  const auto add = [&](PlannedRun run) {
    run.poison = poison++;
    poisoned.push_back(run);
  };
  const auto is_of_the_same_case = [&](std::size_t i, std::size_t other) {
    return other < runs.size() && runs[other].case_index == runs[i].case_index;
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    add(runs[i]);
    if (is_of_the_same_case(i, i - 1) || is_of_the_same_case(i, i + 1)) continue;
    add(runs[i]);
    poisoned.back().counted = false;
  }
  return poisoned;
}

PlannedRun plan_fresh_run(std::size_t case_index, std::string_view label, const RunSeeds& seeds) {
  const std::uint64_t seed = mix_seed(mix_seed(seeds.shared, "fresh"), label);
  return {case_index, seed, Distribution::kAsGiven, RunOrder::kShuffled, false};
}

}  // namespace krl::evaluator
