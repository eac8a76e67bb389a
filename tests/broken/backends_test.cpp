// Backends that are broken: what a run with each of them comes to. Own trouble in evaluate() costs
// its turn, after a second try; an iteration that has nothing else ends the run.
#include <gtest/gtest.h>

#include "tests/broken/world.hpp"

namespace krl::test {
namespace {

constexpr Patient kBackend{"backend", "backend", "evaluate"};

const std::vector<Defect> kBrokenBackends = {
    {"none", End::kFinishes},  // the control
    // What it says of itself.
    {"no signals", End::kRefused, {"needs correctness"}, "describe", 1},
    {"100000 threads", End::kFinishes, {"100000"}, "describe", 1},
    {"no threads", End::kFinishes, {}, "describe", 1},       // accepted: means one
    {"unknown signals", End::kFinishes, {}, "describe", 1},  // accepted: of a later version
    {"not UTF-8", End::kFinishes, {}, "describe", 1},        // accepted: replaced
    // What it gives.
    {"no verdict", End::kFails, {"it gave 0 verdicts"}, {}, 9, true},
    {"two verdicts", End::kFails, {"it gave 2 verdicts"}, {}, 9, true},
    {"verdict 99", End::kFails, {"a verdict that does not exist"}, {}, 9, true},
    {"infra verdict", End::kFails, {"a verdict that does not exist"}, {}, 9, true},
    {"returns early", End::kFails, {"it gave 0 verdicts"}, {}, 9, true},
    {"case of no verdict", End::kFails, {"a verdict that does not exist"}, {}, 9, true},
    {"wrong case", End::kFails, {"verdict"}, {}, 9, true},
    {"case after the verdict", End::kFails, {"after its verdict"}, {}, 9, true},
    {"negative speedup", End::kFails, {"speedup"}, {}, 9, true},
    {"infinite speedup", End::kFails, {"speedup"}, {}, 9, true},
    {"null case", End::kFails, {"NULL"}, {}, 9, true},
    {"case size", End::kFails, {"size"}, {}, 9, true},
    {"value of no case", End::kFails, {"99"}, {}, 9, true},
    // Accepted: a value that is not there is unknown, a text empty, and bytes that are no UTF-8 are
    // replaced; large amounts are not a fault, nor is a thread of the backend's own.
    {"zeroed case", End::kFinishes, {}, {}, 9, true},
    {"zeroed kernel", End::kFinishes, {}, {}, 9},
    {"no case", End::kFinishes, {}, {}, 9, true},
    {"nan value", End::kFinishes},
    {"null text", End::kFinishes},
    {"bad why", End::kFinishes},
    {"long why", End::kFinishes, {}, {}, 18},
    {"20000 cases", End::kFinishes, {}, {}, 18, true},
    {"another thread", End::kFinishes},
    // How it fails.
    {"unavailable", End::kFinishes, {}, {}, 9, false, 1},  // the next try goes well
    {"unavailable", End::kFails, {"server away"}, {}, 9, true},
    {"refused", End::kFails, {"I refuse"}, {}, 9, true},
    {"throw", End::kFails, {"boom"}, {}, 9, true},
    {"throw int", End::kFails, {"exception"}, {}, 9, true},
    {"no reason", End::kFails, {"without a reason"}, {}, 9, true},
    {"bad reason", End::kFails, {"forged line"}, {}, 9, true},
    {"refused", End::kRefused, {"I refuse"}, "prepare", 1},
    {"unavailable", End::kFails, {"server away"}, "prepare", 1},
    {"throw", End::kFails, {"boom"}, "prepare", 1},
    {"refused", End::kRefused, {"I refuse"}, "describe", 1},
    {"throw", End::kFails, {"boom"}, "describe", 1},
    {"refused", End::kRefused, {"I refuse"}, "create", 1},
    {"returns early", End::kFails, {"it gave no instance"}, "create", 1},
    // What ends the process.
    {"segfault", End::kDies, {"SIGSEGV"}},
    {"segfault", End::kDies, {"SIGSEGV"}, "prepare", 1},
    {"stack overflow", End::kDies, {"SIGSEGV"}},
    {"abort", End::kDies, {"SIGABRT"}},
    {"exit 0", End::kDies, {"exit"}},
    {"hang", End::kHangs},
    {"hang", End::kHangs, {}, "prepare", 1},
    {"until cancelled", End::kObeys, {}, {}, 9, true},
    {"fork", End::kFinishes, {"fork"}},
    {"print", End::kFinishes},
};

class BrokenBackend : public ::testing::TestWithParam<Defect> {};

TEST_P(BrokenBackend, HasItsOutcome) { expect_outcome(kBackend, GetParam()); }

TEST(Validation, FindsEachBackendsDefect) { expect_validation_to_find(kBackend, kBrokenBackends); }

INSTANTIATE_TEST_SUITE_P(Backends, BrokenBackend, ::testing::ValuesIn(kBrokenBackends),
                         [](const auto& row) { return test_name(row.param); });

}  // namespace
}  // namespace krl::test
