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
    {"throw", End::kFails, {"boom"}},
    {"throw", End::kFails, {"boom"}, "create", 1},
    {"throw", End::kFinishes, {"destroy", "boom"}, "destroy", 1},  // when all is done
    {"throw int", End::kFails, {"exception"}},
    // What ends the process.
    {"segfault", End::kDies, {"SIGSEGV"}},
    {"segfault", End::kDies, {"SIGSEGV"}, "create", 1},
    {"segfault", End::kDies, {"SIGSEGV"}, "destroy", 1},
    {"stack overflow", End::kDies, {"SIGSEGV"}},
    {"double free", End::kDies, {"SIGABRT"}},
    {"abort", End::kDies, {"SIGABRT"}},
    {"exit 5", End::kDies, {"exit"}},
    {"exit 0", End::kDies, {"exit"}},
    {"exit 0", End::kDies, {"exit"}, "create", 1},
    {"quick exit", End::kDies, {"_exit"}},
    {"crash later", End::kDiesAside, {"SIGSEGV"}},
    {"hang", End::kHangs},
    {"until cancelled", End::kObeys},
    // What it does to others.
    {"fork", End::kFinishes, {"fork"}},
    {"leak", End::kFinishes},
    {"locale", End::kFinishes},
    {"chdir", End::kFinishes},
    {"ignore signals", End::kFinishes},
    {"print", End::kFinishes},
    {"long log line", End::kFinishes},
    {"forged log line", End::kFinishes},
};

class BrokenReward : public ::testing::TestWithParam<Defect> {};

TEST_P(BrokenReward, HasItsOutcome) { expect_outcome(kReward, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Rewards, BrokenReward, ::testing::ValuesIn(kBrokenRewards),
                         [](const auto& row) { return test_name(row.param); });

}  // namespace
}  // namespace krl::test
