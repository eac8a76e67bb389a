// Datasets that are broken: what a run with each of them comes to. They are read at its start.
#include <gtest/gtest.h>

#include "tests/broken/world.hpp"

namespace krl::test {
namespace {

constexpr Patient kDataset{"dataset", "dataset.0", "read"};

const std::vector<Defect> kBrokenDatasets = {
    {"none", End::kFinishes, {}, {}, 1},  // the control
    // What it gives.
    {"twice", End::kFails, {"it gave 2 items for index 0"}, {}, 1},
    {"never", End::kFails, {"it gave 0 items for index 0"}, {}, 1},
    {"endless", End::kFails, {"18446744073709551615"}, "size", 1},
    {"empty", End::kRefused, {"no"}, "size", 1},
    {"pairs", End::kRefused, {"pairs"}, {}, 1},
    {"documents", End::kRefused, {"documents"}, {}, 1},
    {"same id", End::kRefused, {"have the id 'task'"}, {}, 1},
    {"wild id", End::kRefused, {"an id is 1 to 128 letters"}, {}, 1},
    {"no id", End::kRefused, {"id"}, {}, 1},
    {"bad definition", End::kRefused, {"task_0"}, {}, 1},
    {"other definition", End::kRefused, {"another_task", "task_0"}, {}, 1},
    {"null task", End::kFails, {"NULL"}, {}, 1},
    {"task size", End::kFails, {"size"}, {}, 1},
    {"earlier answers", End::kFails, {"1073741824"}, {}, 1},
    {"pair size", End::kFails, {"size"}, {}, 1},
    // Accepted: a text that is not there is empty; bytes that are no UTF-8 are replaced; what a
    // policy can take in is the policy's to say; a tier is any number; an item is read once a
    // start, so that one which changes is another dataset.
    {"null text", End::kFinishes, {}, {}, 1},
    {"not UTF-8", End::kFinishes, {}, {}, 1},
    {"long prompt", End::kFinishes, {}, {}, 1},
    {"other item", End::kFinishes, {}, {}, 1},
    {"tier", End::kFinishes, {}, {}, 1, true},
    // How it fails.
    {"refused", End::kRefused, {"I refuse"}, {}, 1},
    {"refused", End::kRefused, {"I refuse"}, "size", 1},
    {"refused", End::kRefused, {"I refuse"}, "create", 1},
    {"unavailable", End::kFinishes, {}, {}, 1, false, 1},  // the next try goes well
    {"unavailable", End::kFails, {"server away"}, {}, 1},
    {"unavailable", End::kFails, {"server away"}, "size", 1},
    {"bad reason", End::kFails, {"forged line"}, {}, 1},
    {"unknown status", End::kFails, {"4711"}, {}, 1},
    {"throw", End::kFails, {"boom"}, {}, 1},
    {"throw", End::kFails, {"boom"}, "size", 1},
    // What ends the process.
    {"segfault", End::kDies, {"SIGSEGV"}, {}, 1},
    {"segfault", End::kDies, {"SIGSEGV"}, "size", 1},
    {"exit 0", End::kDies, {"exit"}, {}, 1},
    {"hang", End::kHangs, {}, {}, 1},
    {"hang", End::kHangs, {}, "size", 1},
    {"until cancelled", End::kObeys, {}, {}, 1},
    {"print", End::kFinishes, {}, {}, 1},
};

class BrokenDataset : public ::testing::TestWithParam<Defect> {};

TEST_P(BrokenDataset, HasItsOutcome) { expect_outcome(kDataset, GetParam()); }

TEST(Validation, FindsEachDatasetsDefect) {
  std::vector<Defect> defects = kBrokenDatasets;
  // A dataset of pairs or documents is sound, and broken in the place of tasks alone.
  std::erase_if(defects, [](const Defect& defect) {
    return defect.name == "pairs" || defect.name == "documents";
  });
  expect_validation_to_find(kDataset, defects);
}

INSTANTIATE_TEST_SUITE_P(Datasets, BrokenDataset, ::testing::ValuesIn(kBrokenDatasets),
                         [](const auto& row) { return test_name(row.param); });

}  // namespace
}  // namespace krl::test
