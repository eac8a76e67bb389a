// Operations of the Llama block with derivatives of their own, where a chain of torch operations
// would pass over memory many times. For float32 and float64 on the CPU.
// Thread-safe, as torch operations are.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config.hpp"
#include "torch.hpp"

namespace krl::libtorch {

// x / √(mean(x²) + epsilon) · gain along the last of two dimensions; x [N, width], gain [width].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain, double epsilon);

// silu(gate) · up for rows of gate and up side by side: [N, 2 · width] → [N, width].
at::Tensor swiglu(const at::Tensor& gate_up);

// Causal attention within each sequence of a packed batch, with rotary positions.
// qkv [N, qkv_width]: queries, keys, values; cosine and sine [N, head_size / 2], without gradient;
// starts as in PackedBatch. → [N, attention_width].
at::Tensor rotary_attention(const at::Tensor& qkv, const at::Tensor& cosine, const at::Tensor& sine,
                            const std::vector<std::int64_t>& starts, const ModelConfig& config);

// The logarithm of the probability of each target, and the entropy of each prediction, under
// softmax(hidden · weightsᵀ / temperature). hidden [M, width], weights [vocabulary, width],
// targets [M] int64 → both [M].
struct Predictions {
  at::Tensor logprobs, entropy;
};
Predictions predict(const at::Tensor& hidden, const at::Tensor& weights, const at::Tensor& targets,
                    double temperature);

}  // namespace krl::libtorch
