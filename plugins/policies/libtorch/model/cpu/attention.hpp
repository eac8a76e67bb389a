// Causal attention over packed sequences on the CPU, with rotary positions and a custom derivative:
// torch's flash attention, one sequence at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/model/operations.hpp"

namespace krl::libtorch {

// qkv [N, qkv_width]: queries, keys, values; `angles` has a row for each token; sequence s is
// [starts[s], starts[s + 1]). → [N, attention_width]. An operation of autograd.
at::Tensor rotary_attention(const at::Tensor& qkv, const Angles& angles,
                            const std::vector<std::int64_t>& starts, const ModelConfig& config);

}  // namespace krl::libtorch
