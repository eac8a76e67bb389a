#include "core/measure/mechanisms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace krl::core {
namespace {

using ::testing::ElementsAre;

// A right kernel at two sizes, with the same values at both.
Evaluation right(std::vector<std::pair<std::string, double>> values) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::kOk;
  evaluation.cases.resize(2);
  evaluation.kernels.resize(1);
  for (std::int32_t c = 0; c < 2; ++c)
    for (const auto& [name, value] : values) evaluation.values.push_back({c, name, "", value});
  return evaluation;
}

TEST(Mechanisms, AreToldFromWhatWasExecuted) {
  EXPECT_THAT(mechanisms_of(right({{"launches", 1}, {"blocks", 1}})), ElementsAre());
  EXPECT_THAT(mechanisms_of(right({{"launches", 1}, {"blocks", 64}, {"vector_accesses", 5}})),
              ElementsAre("grid_stride", "vector4"));
  EXPECT_THAT(mechanisms_of(right({{"launches", 1}, {"shuffles", 5}})),
              ElementsAre("shuffle_tree"));
  EXPECT_THAT(mechanisms_of(right(
                  {{"launches", 2}, {"shuffles", 5}, {"shared_bytes", 128}, {"barriers", 2}})),
              ElementsAre("block_tree", "stages"));
  EXPECT_THAT(
      mechanisms_of(right(
          {{"launches", 2}, {"shared_bytes", 192}, {"shared_atomics", 9}, {"global_atomics", 3}})),
      ElementsAre("shared_atomics"));
}

TEST(Mechanisms, SharedMemoryThatGrowsWithTheSizeHoldsARow) {
  Evaluation evaluation = right({{"launches", 1}});
  evaluation.values.push_back({0, "shared_bytes", "", 276});
  evaluation.values.push_back({1, "shared_bytes", "", 416});
  EXPECT_THAT(mechanisms_of(evaluation), ElementsAre("row_cache"));
  evaluation.verdict = Verdict::kWrongResult;
  EXPECT_THAT(mechanisms_of(evaluation), ElementsAre());
}

TEST(Mechanisms, WithheldCellsAreThoseOfTheWarmUp) {
  DatasetSettings dataset;
  dataset.role = DatasetRole::kWarmup;
  dataset.options = {{"withhold", {"row_cache:softmax_rows", "vector4:dot", "stages:dot"}}};
  DatasetSettings held_out = dataset;
  held_out.role = DatasetRole::kHoldout;
  held_out.options["withhold"] = {"vector4:relu"};
  const std::set<Cell> wanted = {
      {"dot", "stages"}, {"dot", "vector4"}, {"softmax_rows", "row_cache"}};
  EXPECT_EQ(withheld_cells({dataset, held_out, {}}), wanted);
}

}  // namespace
}  // namespace krl::core
