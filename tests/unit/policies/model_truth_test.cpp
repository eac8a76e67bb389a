// The model on the CPU against transformers and PyTorch; tests/gpu does the same on a GPU.
#include "tests/unit/policies/model_truth.hpp"

#include <gtest/gtest.h>

namespace krl::libtorch {
namespace {

class ModelTruthTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelTruthTest, LogitsAreThoseOfTransformers) {
  expect_logits_of_truth(GetParam(), make_cpu_operations);
}

TEST_P(ModelTruthTest, GradientIsThatOfTransformers) {
  expect_gradient_of_truth(GetParam(), make_cpu_operations);
}

INSTANTIATE_TEST_SUITE_P(Families, ModelTruthTest, ::testing::ValuesIn(kTruthModels),
                         [](const auto& info) { return std::string(info.param); });

TEST(TrainingTruth, FiftyStepsHaveTheLossesOfPyTorch) {
  expect_losses_of_pytorch(make_cpu_operations);
}

}  // namespace
}  // namespace krl::libtorch
