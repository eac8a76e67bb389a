// The source of the generation kernels and the constants that specialise it for a model. Needs
// neither torch nor a GPU.
#pragma once

#include <string>
#include <vector>

#include "plugins/policies/libtorch/cuda/kernel_compiler.hpp"
#include "plugins/policies/libtorch/model/config.hpp"

namespace krl::libtorch {

enum class Precision { kBFloat16, kFloat32 };

// True if decode attention runs on tensor cores: bfloat16, heads of a multiple of 32 up to 128, at
// most 8 queries to a key.
bool uses_tensor_attention(const ModelConfig& config, Precision precision);

// Threads of a block; the kernels' sources are given the same numbers.
inline constexpr int kGenerationGateThreads = 256, kPrepareThreads = 128, kAttendThreads = 256,
                     kTensorAttentionThreads = 128, kSampleThreads = 256;

std::string generation_kernels(const ModelConfig& config, Precision precision);
std::vector<Define> generation_defines(const ModelConfig& config, Precision precision);

// Constants derived from the model's shape, for both sides.
struct KernelShape {
  int row_threads;   // block size of embed_step, embed_prompts and add_and_norm
  int gate_blocks;   // blocks of gate per row
  int logit_chunk;   // ids that a block of sum_chunks looks at
  int logit_chunks;  // blocks of sum_chunks per row
};
KernelShape kernel_shape(const ModelConfig& config, Precision precision);

}  // namespace krl::libtorch
