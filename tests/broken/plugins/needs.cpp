// Whole, but for what it needs of others: a function that does not exist, or a library that is
// gone.
#include <kernelrl/reward.hpp>

extern "C" double broken_need();

namespace {

struct Needy final : krl::Reward {
  double score(const krl::Turn&) override { return broken_need(); }
};

}  // namespace

KRL_PLUGIN("broken_needs", "1.0.0", krl::reward<Needy>("broken.at_load", "Needs something"))
