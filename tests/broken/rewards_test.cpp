// Rewards that are broken: what a run with each of them comes to.
#include <gtest/gtest.h>

#include "tests/broken/world.hpp"

namespace krl::test {
namespace {

constexpr Patient kReward{"reward", "reward.0", "score"};

const std::vector<Defect> kBrokenRewards = {
    {"none", End::kFinishes},  // the control
    // What it gives.
    {"nan", End::kFails, {"it gave nan"}},
    {"infinity", End::kFails, {"it gave inf"}},
    {"minus infinity", End::kFails, {"it gave -inf"}},
    {"1e308", End::kFails, {"it gave 1e+308"}},
    {"returns early", End::kFails, {"it gave nan"}},
    {"returns early", End::kFails, {"it gave no instance"}, "create", 1},
    // How it fails.
    {"refused", End::kFails, {"I refuse"}},
    {"refused", End::kRefused, {"I refuse"}, "create", 1},
    {"bad reason", End::kFails, {"forged line"}},
    {"unknown status", End::kFails, {"4711"}},
    {"unknown status", End::kFails, {"4711"}, "create", 1},
    {"no reason", End::kFails, {"without a reason"}},
    {"no reason", End::kFails, {"without a reason"}, "create", 1},
    {"fails with OK", End::kFails, {"failed well"}},
    {"unavailable", End::kFinishes, {}, {}, 9, false, 1},  // the next try goes well
    {"unavailable", End::kFails, {"server away"}, {}, 9, true},
    {"throw", End::kFails, {"it threw an exception across the C boundary: boom"}},
    {"throw",
     End::kFails,
     {"broke its contract in create(): it threw an exception", "boom"},
     "create",
     1},
    {"throw", End::kFinishes, {"destroy", "boom"}, "destroy", 1},  // when all is done
    {"throw int", End::kFails, {"something that is not a std::exception"}},
    // What ends the process.
    {"segfault", End::kDies, {"(score) crashed: SIGSEGV at address 0x0"}},
    {"segfault", End::kDies, {"SIGSEGV"}, "create", 1},
    {"segfault", End::kDies, {"SIGSEGV"}, "destroy", 1},
    {"stack overflow", End::kDies, {"(score) crashed: SIGSEGV at address 0x"}},
    {"double free", End::kDies, {"SIGABRT"}},
    {"abort",
     End::kDies,
     {"(score) crashed: SIGABRT", "is complete up to iteration 2; resume with: "}},
    {"abort", End::kDies, {"(create) crashed: SIGABRT"}, "create", 1},
    {"abort", End::kDies, {"(destroy) crashed: SIGABRT"}, "destroy", 1},
    {"throw in noexcept", End::kDies, {"SIGABRT, an uncaught exception: boom"}},
    {"broken pipe", End::kDies, {"(score) crashed: SIGPIPE"}},
    {"exit 5", End::kDies, {"called exit(), so kernelrl ends"}},
    {"exit 0", End::kDies, {"called exit(), so kernelrl ends"}},
    {"exit 0", End::kDies, {"(create) called exit()"}, "create", 1},
    {"crash later",
     End::kDiesAside,
     {"a thread outside of any call crashed: SIGSEGV at address 0x0, in /"}},
    {"thread throws",
     End::kDiesAside,
     {"a thread outside of any call crashed: SIGABRT, an uncaught exception: boom",
      "  under way: reward 'broken.reward' (score) "}},
    {"thread exits",
     End::kDiesAside,
     {"a thread outside of any call called exit(), so kernelrl ends",
      "  under way: reward 'broken.reward' (score) "}},
    {"thread with a small signal stack", End::kDiesAside, {"an uncaught exception: boom"}},
    {"hang", End::kHangs},
    {"until cancelled", End::kObeys},
    // What it does to others.
    {"fork", End::kFinishes, {"forked, and the child returned to kernelrl; the child ends here"}},
    {"leak", End::kFinishes},
    {"locale", End::kFinishes},
    {"chdir", End::kFinishes},
    {"ignore signals", End::kFinishes},
    {"print", End::kFinishes},
    {"long log line", End::kFinishes},
    {"forged log line",
     End::kFinishes,
     {"broken.reward: one [2026-01-01 00:00:00.000] [error] forged line"}},
};

class BrokenReward : public ::testing::TestWithParam<Defect> {};

TEST_P(BrokenReward, HasItsOutcome) { expect_outcome(kReward, GetParam()); }

TEST(Validation, FindsEachRewardsDefect) { expect_validation_to_find(kReward, kBrokenRewards); }

INSTANTIATE_TEST_SUITE_P(Rewards, BrokenReward, ::testing::ValuesIn(kBrokenRewards),
                         [](const auto& row) { return test_name(row.param); });

}  // namespace
}  // namespace krl::test
