// The source of the training kernels and the constants that specialise it for a model. Needs
// neither torch nor a GPU.
#pragma once

#include <string>
#include <vector>

#include "plugins/policies/libtorch/cuda/kernel_compiler.hpp"
#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/model/cuda/launch.hpp"

namespace krl::libtorch {

// Throws krl::Failure (KRL_INVALID_ARGUMENT) with the option that these kernels cannot train:
// `element_bytes` is 2 for bfloat16, 4 for float32.
void check_trainable_on_cuda(const ModelConfig& config, int element_bytes);

std::string training_kernels();
// REQUIRES: check_trainable_on_cuda() accepts it.
std::vector<Define> training_defines(const ModelConfig& config, int element_bytes);

// The sizes that the host and the kernels must agree on.
struct TrainingShape {
  std::int64_t vector;            // elements of an access
  std::int64_t rows_per_block;    // for add_and_norm
  std::int64_t groups_per_block;  // for prepare_heads: heads of a row
};
TrainingShape training_shape(const ModelConfig& config, int element_bytes);

}  // namespace krl::libtorch
