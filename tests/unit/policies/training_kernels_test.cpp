// Training's CUDA kernels compile for every GPU and every shape of model, which needs no GPU.
#include <gtest/gtest.h>

#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/model/cuda/kernel_source.hpp"

namespace krl::libtorch {
namespace {

struct Sizes {
  const char* name;
  ModelConfig config;
};

std::ostream& operator<<(std::ostream& out, const Sizes& shape) { return out << shape.name; }

const Sizes kSizes[] = {
    {"tiny", {.hidden = 48, .heads = 4, .kv_heads = 2, .ffn = 60, .vocabulary = 301}},
    {"SmolLM2_135M", {.hidden = 576, .heads = 9, .kv_heads = 3, .ffn = 1536, .vocabulary = 49152}},
    {"Llama32_1B", {.hidden = 2048, .heads = 32, .kv_heads = 8, .ffn = 8192, .vocabulary = 128256}},
    {"Qwen25_1_5B",
     {.family = Family::kQwen2,
      .hidden = 1536,
      .heads = 12,
      .kv_heads = 2,
      .ffn = 8960,
      .vocabulary = 151936}},
    {"Qwen3_0_6B",
     {.family = Family::kQwen3,
      .hidden = 1024,
      .heads = 16,
      .kv_heads = 8,
      .ffn = 3072,
      .vocabulary = 151936,
      .head_dim = 128}},
    {"widest", {.hidden = 8192, .heads = 64, .kv_heads = 8, .ffn = 28672, .vocabulary = 32000}},
};

class TrainingKernelsTest : public ::testing::TestWithParam<std::tuple<Sizes, int, const char*>> {};

TEST_P(TrainingKernelsTest, Compile) {
  const auto& [shape, element_bytes, architecture] = GetParam();
  check_trainable_on_cuda(shape.config, 4);
  try {
    const std::string cubin =
        compile_kernels("training", training_kernels(),
                        training_defines(shape.config, element_bytes), architecture);
    EXPECT_FALSE(cubin.empty());
  } catch (const Failure& failure) {
    if (failure.code() == KRL_FAILED_PRECONDITION) GTEST_SKIP() << failure.what();
    FAIL() << failure.what();
  }
}

std::string name_of(const ::testing::TestParamInfo<TrainingKernelsTest::ParamType>& info) {
  const auto& [shape, element_bytes, architecture] = info.param;
  return std::string(shape.name) + (element_bytes == 2 ? "_bf16_" : "_fp32_") + architecture;
}

INSTANTIATE_TEST_SUITE_P(All, TrainingKernelsTest,
                         ::testing::Combine(::testing::ValuesIn(kSizes), ::testing::Values(2, 4),
                                            ::testing::Values("sm_80", "sm_90a")),
                         name_of);

TEST(TrainingShapes, WhatIsNotBuiltIsRefused) {
  const auto refusal = [](const ModelConfig& config, int element_bytes) {
    try {
      check_trainable_on_cuda(config, element_bytes);
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal({.hidden = 16384, .heads = 128}, 2).find("model.hidden"), std::string::npos);
  EXPECT_NE(refusal({.hidden = 48, .heads = 4}, 2).find("multiple of 8"), std::string::npos);
  EXPECT_EQ(refusal({.hidden = 48, .heads = 4}, 4), "");
}

}  // namespace
}  // namespace krl::libtorch
