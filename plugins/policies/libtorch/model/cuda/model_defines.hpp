// The constants that specialise every kernel source for a model, among them how many elements the
// kernels load at once: the widest access that divides every row.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "plugins/policies/libtorch/cuda/kernel_compiler.hpp"
#include "plugins/policies/libtorch/model/config.hpp"

namespace krl::libtorch {

// The most elements of one access that divide all of `widths`.
inline std::int64_t vector_of(int element_bytes, std::initializer_list<std::int64_t> widths) {
  constexpr std::int64_t kAccessBytes = 16;  // bytes of the widest load
  std::int64_t vector = kAccessBytes / element_bytes;
  for (const std::int64_t width : widths) vector = std::gcd(vector, width);
  return vector;
}

// Vector width for rows of parameters: every offset of one is a sum of multiples of these widths.
inline std::int64_t row_vector(const ModelConfig& config, int element_bytes) {
  return vector_of(element_bytes, {config.hidden, config.head_size(), config.ffn});
}

// Vector width for rows of logits.
inline std::int64_t logit_vector(const ModelConfig& config, int element_bytes) {
  return vector_of(element_bytes, {config.vocabulary});
}

inline std::vector<Define> model_defines(const ModelConfig& config, int element_bytes) {
  return {{"HIDDEN", config.hidden},
          {"HEADS", config.heads},
          {"KV_HEADS", config.kv_heads},
          {"HEAD_SIZE", config.head_size()},
          {"FFN", config.ffn},
          {"VOCABULARY", config.vocabulary},
          {"QKV_BIAS", config.qkv_bias()},
          {"QK_NORM", config.qk_norm()},
          {"ELEMENT_BYTES", element_bytes},
          {"VECTOR", row_vector(config, element_bytes)},
          {"LOGIT_VECTOR", logit_vector(config, element_bytes)}};
}

}  // namespace krl::libtorch
