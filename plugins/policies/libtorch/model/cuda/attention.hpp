// Causal attention over packed sequences on a GPU: torch's flash attention in bfloat16 (grouped
// queries as they are), its memory-efficient attention in float32.
#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/model/packed_batch.hpp"

namespace krl::libtorch {

// State for backward in addition to inputs and output.
struct AttentionTrace {
  at::Tensor normaliser, first_state, second_state;  // states of an unused dropout
};

// heads [N, qkv_width]: queries, keys, values, prepared → [N, attention_width].
at::Tensor attend(const at::Tensor& heads, const ModelConfig& config, const PackedBatch& batch,
                  AttentionTrace& trace);

// [N, heads, head_size], and twice [N, kv_heads, head_size].
struct AttentionGradients {
  at::Tensor queries, keys, values;
};
// REQUIRES: a contiguous gradient `by_out` [N, attention_width].
AttentionGradients attend_backward(const at::Tensor& by_out, const at::Tensor& heads,
                                   const at::Tensor& out, const ModelConfig& config,
                                   const PackedBatch& batch, const AttentionTrace& trace);

}  // namespace krl::libtorch
