// Policies that are broken: what a run with each of them comes to. They are called once an
// iteration.
#include <gtest/gtest.h>

#include "tests/broken/world.hpp"

namespace krl::test {
namespace {

constexpr Patient kPolicy{"policy", "policy", "sample"};

const std::vector<Defect> kBrokenPolicies = {
    {"none", End::kFinishes},  // the control
    // What it says of itself.
    {"no tokens", End::kRefused, {"tokens"}, "describe", 1},
    {"negative sizes", End::kFails, {"-1"}, "describe", 1},
    {"version falls", End::kFails, {"version"}, "describe", 4},
    {"not UTF-8", End::kFinishes, {}, "describe", 1},  // accepted: replaced
    // What it gives.
    {"twice", End::kFails, {"two samples for request 0"}, {}, 2},
    {"missing", End::kFails, {"no sample for request 1"}, {}, 2},
    {"returns early", End::kFails, {"no sample for request 0"}, {}, 2},
    {"wrong request", End::kFails, {"request 7"}, {}, 2},
    {"wrong index", End::kFails, {"sample 99 of request 0"}, {}, 2},
    {"short logprobs", End::kFails, {"2 tokens with 1 logprobs"}, {}, 2},
    {"no logprobs", End::kFails, {"1 tokens with 0 logprobs"}, {}, 2},
    {"nan logprob", End::kFails, {"logprob nan of token 0"}, {}, 2},
    {"positive logprob", End::kFails, {"logprob 0.5 of token 0"}, {}, 2},
    {"minus infinite logprob", End::kFails, {"logprob -inf of token 0"}, {}, 2},
    {"no tokens", End::kFails, {"tokens"}, {}, 2},
    {"token -7", End::kFails, {"-7"}, {}, 2},
    {"token 100000", End::kFails, {"100000"}, {}, 2},
    {"version 99", End::kFails, {"version 99"}, {}, 2},
    {"version falls", End::kFails, {"of version 0 after one of version"}, {}, 4},
    {"fails another", End::kFails, {"request 7"}, {}, 2},
    {"fails what it gave", End::kFails, {"request 0"}, {}, 2},
    {"nan loss", End::kFails, {"loss"}, "forward_backward", 1, true},
    {"nan gradient", End::kFails, {"grad_norm"}, "optimizer_step", 1, true},
    {"writes nothing", End::kFails, {"it wrote nothing"}, "save", 2},
    // Accepted: bytes that are not UTF-8 are replaced; large amounts are not a fault, nor is a
    // thread of the policy's own; and a request may fail.
    {"not UTF-8", End::kFinishes, {}, {}, 2, true},
    {"NUL", End::kFinishes, {}, {}, 2, true},
    {"long text", End::kFinishes, {}, {}, 4, true},
    {"another thread", End::kFinishes, {}, {}, 2},
    {"loses one", End::kFinishes, {}, {}, 2, true},
    // How it fails.
    {"loses all", End::kFails, {"server away"}, {}, 2},
    {"cut off", End::kFails, {"cut off"}, {}, 2},
    {"stop reason 99", End::kFails, {"cut off"}, {}, 2},   // means the same
    {"unavailable", End::kFinishes, {}, {}, 2, false, 1},  // the next try goes well
    {"unavailable", End::kFails, {"server away"}, {}, 2},
    {"refused", End::kFails, {"I refuse"}, {}, 2},
    {"bad reason", End::kFails, {"forged line"}, {}, 2},
    {"unknown status", End::kFails, {"4711"}, {}, 2},
    {"throw", End::kFails, {"boom"}, {}, 2},
    {"throw", End::kFails, {"boom"}, "forward_backward", 1},
    {"refused", End::kFails, {"I refuse"}, "forward_backward", 1},
    {"refused", End::kFails, {"I refuse"}, "optimizer_step", 1},
    {"refused", End::kFails, {"I refuse"}, "save", 2},
    {"throw", End::kFails, {"boom"}, "save", 2},
    {"refused", End::kRefused, {"I refuse"}, "describe", 1},
    {"refused", End::kRefused, {"I refuse"}, "create", 1},
    {"returns early", End::kFails, {"it gave no instance"}, "create", 1},
    // What ends the process.
    {"segfault", End::kDies, {"SIGSEGV"}, {}, 2},
    {"segfault", End::kDies, {"SIGSEGV"}, "optimizer_step", 1},
    {"segfault", End::kDies, {"SIGSEGV"}, "save", 2},
    {"abort", End::kDies, {"SIGABRT"}, {}, 2},
    {"exit 0", End::kDies, {"exit"}, {}, 2},
    {"exit 0", End::kDies, {"exit"}, "save", 2},
    {"hang", End::kHangs, {}, {}, 2},
    {"hang", End::kHangs, {}, "forward_backward", 1},
    {"until cancelled", End::kObeys, {}, {}, 2},
    {"fork", End::kFinishes, {"fork"}, {}, 2},
    {"print", End::kFinishes, {}, {}, 2},
};

class BrokenPolicy : public ::testing::TestWithParam<Defect> {};

TEST_P(BrokenPolicy, HasItsOutcome) { expect_outcome(kPolicy, GetParam()); }

TEST(Validation, FindsEachPolicysDefect) { expect_validation_to_find(kPolicy, kBrokenPolicies); }

INSTANTIATE_TEST_SUITE_P(Policies, BrokenPolicy, ::testing::ValuesIn(kBrokenPolicies),
                         [](const auto& row) { return test_name(row.param); });

}  // namespace
}  // namespace krl::test
