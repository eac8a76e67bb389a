#include "plugins/backends/evaluator/check/run_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace krl::evaluator {
namespace {

// Deals all distributions before it deals one again, in an order by the candidate's own
// seed.
class Deck {
 public:
  explicit Deck(const RunSeeds& seeds) : seed_(mix_seed(seeds.own, "distributions")) {}

  Distribution deal() {
    const std::size_t at = dealt_ % kDistributions;
    if (at == 0) shuffle();
    ++dealt_;
    return cards_[at];
  }

 private:
  void shuffle() {
    for (std::size_t i = 0; i < kDistributions; ++i) cards_[i] = static_cast<Distribution>(i);
    for (std::size_t i = kDistributions; i > 1; --i)
      std::swap(cards_[i - 1], cards_[mix_seed(seed_, dealt_ + i) % i]);
  }

  const std::uint64_t seed_;
  std::array<Distribution, kDistributions> cards_{};
  std::size_t dealt_ = 0;
};

// A timed run may have any order; most runs that are only checked are shuffled.
RunOrder drawn_order(std::uint64_t seed) {
  constexpr RunOrder kOrders[] = {RunOrder::kForward, RunOrder::kReversed, RunOrder::kShuffled,
                                  RunOrder::kShuffled};
  return kOrders[mix_seed(seed, "order") % std::size(kOrders)];
}

PlannedRun checked(std::size_t case_index, std::uint64_t seed, Distribution distribution) {
  return {case_index, seed, distribution, drawn_order(seed), false};
}

}  // namespace

std::vector<PlannedRun> plan_counted(std::size_t cases, std::uint64_t seed) {
  std::vector<PlannedRun> runs;
  for (std::size_t c = 0; c < cases; ++c) {
    runs.push_back(
        {c, mix_seed(mix_seed(seed, c), 0), Distribution::kAsGiven, RunOrder::kForward, true});
  }
  return runs;
}

std::vector<PlannedRun> plan_runs(std::size_t cases, std::size_t holdouts,
                                  std::size_t runs_per_case, const RunSeeds& seeds) {
  std::vector<PlannedRun> runs = plan_counted(cases, seeds.own);
  const std::size_t further =
      runs_per_case <= 1 || cases == 0 ? 0 : std::max(kLeastChecked, cases * (runs_per_case - 1));
  Deck deck(seeds);
  const auto seed_of = [&](std::size_t case_index, std::size_t run) {
    return mix_seed(mix_seed(seeds.own, case_index), run);
  };
  for (std::size_t e = 0; e < further; ++e) {
    const std::size_t c = cases - 1 - e % cases;
    runs.push_back(checked(c, seed_of(c, e + 1), deck.deal()));
  }
  for (std::size_t h = cases; h < cases + holdouts; ++h)
    runs.push_back(checked(h, seed_of(h, 0), deck.deal()));
  std::stable_sort(runs.begin(), runs.end(), [](const PlannedRun& a, const PlannedRun& b) {
    return a.case_index < b.case_index;
  });
  return runs;
}

std::vector<PlannedRun> plan_fresh(std::span<const FreshShape> shapes, std::size_t dealt,
                                   const RunSeeds& seeds) {
  std::vector<std::size_t> by_size(shapes.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return shapes[a].elements > shapes[b].elements;
  });
  std::vector<PlannedRun> runs;
  Deck deck(seeds);
  for (std::size_t d = 0; d < dealt; ++d) deck.deal();
  for (const bool again : {false, true}) {
    for (const std::size_t s : by_size) {
      if (again && !shapes[s].is_run_twice()) continue;
      const std::string_view salt = again ? "again" : "fresh";
      const std::uint64_t seed = mix_seed(mix_seed(seeds.shared, salt), shapes[s].label);
      runs.push_back(checked(shapes[s].case_index, seed, deck.deal()));
      runs.back().order = drawn_order(mix_seed(mix_seed(seeds.own, salt), shapes[s].label));
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const PlannedRun& a, const PlannedRun& b) {
    return a.case_index < b.case_index;
  });
  return runs;
}

PlannedRun plan_at_real_size(const PlannedRun& as_given, const RunSeeds& seeds) {
  const std::uint64_t draw = mix_seed(mix_seed(seeds.own, "real"), as_given.case_index);
  auto distribution = Distribution::kRare;
  if (draw % 4 == 0) distribution = static_cast<Distribution>(1 + draw / 4 % (kDistributions - 1));
  return checked(as_given.case_index, mix_seed(as_given.seed, "other"), distribution);
}

std::vector<PlannedRun> with_poisons(const std::vector<PlannedRun>& runs,
                                     const std::function<bool(std::size_t case_index)>& is_cheap) {
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
    if (!is_cheap(runs[i].case_index)) continue;
    add(runs[i]);
    poisoned.back().counted = false;
  }
  return poisoned;
}

}  // namespace krl::evaluator
