// Generation's CUDA kernels compile for every GPU and every shape of model, which needs no GPU.
#include <gtest/gtest.h>

#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/generation/cuda/kernel_source.hpp"

namespace krl::libtorch {
namespace {

struct Shape {
  const char* name;
  ModelConfig config;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }

Shape shape(const char* name, Family family, std::int64_t hidden, std::int64_t heads,
            std::int64_t kv_heads, std::int64_t ffn, std::int64_t vocabulary,
            std::int64_t head_size = 0) {
  ModelConfig config;
  config.family = family;
  config.hidden = hidden;
  config.heads = heads;
  config.kv_heads = kv_heads;
  config.ffn = ffn;
  config.vocabulary = vocabulary;
  config.head_dim = head_size;
  return {name, config};
}

const Shape kShapes[] = {
    shape("tiny", Family::kLlama, 48, 4, 2, 60, 301),
    shape("SmolLM2_135M", Family::kLlama, 576, 9, 3, 1536, 49152),
    shape("Llama32_1B", Family::kLlama, 2048, 32, 8, 8192, 128256),
    shape("Qwen25_1_5B", Family::kQwen2, 1536, 12, 2, 8960, 151936),
    shape("Qwen3_0_6B", Family::kQwen3, 1024, 16, 8, 3072, 151936, 128),
};

class GenerationKernelsTest : public ::testing::TestWithParam<std::tuple<Shape, const char*>> {};

TEST_P(GenerationKernelsTest, Compile) {
  const auto& [shape, architecture] = GetParam();
  for (const Precision precision : {Precision::kBFloat16, Precision::kFloat32}) {
    std::string cubin;
    try {
      cubin = compile_kernels("generation", generation_kernels(shape.config, precision),
                              generation_defines(shape.config, precision), architecture);
    } catch (const Failure& failure) {
      if (failure.code() != KRL_FAILED_PRECONDITION) throw;
      GTEST_SKIP() << "skipped: " << failure.what();
    }
    for (const char* kernel :
         {"embed_step", "embed_prompts", "add_and_norm", "gate", "prepare_prompts", "copy_prompts",
          "start_slots", "sum_chunks", "draw"}) {
      EXPECT_NE(cubin.find(kernel), std::string::npos) << kernel;
    }
    const bool tensor = uses_tensor_attention(shape.config, precision);
    EXPECT_NE(cubin.find(tensor ? "tensor_attention" : "attend_step"), std::string::npos);
    EXPECT_EQ(tensor, precision == Precision::kBFloat16 && shape.config.hidden > 48);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GenerationKernelsTest,
                         ::testing::Combine(::testing::ValuesIn(kShapes),
                                            ::testing::Values("sm_80", "sm_90a", "sm_100a")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param);
                         });

TEST(KernelShape, AgreesWithTheKernels) {
  const KernelShape shape = kernel_shape(kShapes[1].config, Precision::kBFloat16);
  EXPECT_EQ(shape.row_threads, 96);   // 576 elements, 8 of them a thread, whole warps
  EXPECT_EQ(shape.gate_blocks, 1);    // 1,536 elements, 2,048 a block
  EXPECT_EQ(shape.logit_chunks, 12);  // 49,152 ids, 4,096 a chunk
  const KernelShape tiny = kernel_shape(kShapes[0].config, Precision::kFloat32);
  EXPECT_EQ(tiny.row_threads, 32);  // heads of 12: accesses of 4 elements
  EXPECT_EQ(tiny.logit_chunks, 1);
}

TEST(CompileKernels, SaysWhatDoesNotCompile) {
  try {
    compile_kernels("broken", "__global__ void f() { undeclared(); }", {}, "sm_90a");
    FAIL() << "compiled";
  } catch (const Failure& failure) {
    if (failure.code() == KRL_FAILED_PRECONDITION) GTEST_SKIP() << "skipped: " << failure.what();
    EXPECT_NE(std::string(failure.what()).find("undeclared"), std::string::npos);
    EXPECT_NE(std::string(failure.what()).find("broken.cu"), std::string::npos);
  }
}

}  // namespace
}  // namespace krl::libtorch
