#include "plugins/policies/libtorch/model/cuda/kernel_source.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/model/cuda/model_defines.hpp"
#include "training_kernel_source.hpp"

namespace krl::libtorch {
namespace {

constexpr std::int64_t kLargestHidden = 8192;  // a row of float32 and more fit into 48 KiB

std::int64_t pair_vector(const ModelConfig& config, int element_bytes) {
  return vector_of(element_bytes, {config.hidden, config.head_size() / 2, config.ffn});
}

// Warps of a row: as few as leave a lane at most three accesses.
std::int64_t row_warps(const ModelConfig& config, int element_bytes) {
  constexpr std::int64_t kAccesses = 3, kMostWarps = kNormThreads / 32;
  const std::int64_t vectors = config.hidden / row_vector(config, element_bytes);
  std::int64_t warps = 1;
  while (warps < kMostWarps && warps * 32 * kAccesses < vectors) warps *= 2;
  return warps;
}

// Lanes of a head: as many as it has accesses of pairs, at most a warp.
std::int64_t group_lanes(const ModelConfig& config, int element_bytes) {
  const std::int64_t accesses = config.head_size() / 2 / pair_vector(config, element_bytes);
  std::int64_t lanes = 1;
  while (lanes < 32 && lanes < accesses) lanes *= 2;
  return lanes;
}

}  // namespace

void check_trainable_on_cuda(const ModelConfig& config, int element_bytes) {
  if (config.hidden > kLargestHidden) {
    invalid_argument("model.hidden is " + std::to_string(config.hidden) +
                     "; training on a GPU is built for at most " + std::to_string(kLargestHidden));
  }
  constexpr std::int64_t kHeadMultiple = 8, kLargestHead = 256;  // flash attention's
  const std::int64_t head = config.head_size();
  if (element_bytes == 2 && (head % kHeadMultiple != 0 || head > kLargestHead)) {
    invalid_argument("a head has " + std::to_string(head) +
                     " numbers; training in bfloat16 needs a multiple of 8, at most 256");
  }
}

std::string training_kernels() { return training_kernel_source; }

std::vector<Define> training_defines(const ModelConfig& config, int element_bytes) {
  std::vector<Define> defines = model_defines(config, element_bytes);
  defines.insert(defines.end(), {{"PAIR_VECTOR", pair_vector(config, element_bytes)},
                                 {"ROW_WARPS", row_warps(config, element_bytes)},
                                 {"GROUP_LANES", group_lanes(config, element_bytes)}});
  return defines;
}

TrainingShape training_shape(const ModelConfig& config, int element_bytes) {
  return {.vector = row_vector(config, element_bytes),
          .rows_per_block = kNormThreads / 32 / row_warps(config, element_bytes),
          .groups_per_block = kHeadThreads / group_lanes(config, element_bytes)};
}

}  // namespace krl::libtorch
