// The operations of a decoder that depend on the device, with their derivatives. llama.cpp combines
// them; model/cpu/ and model/cuda/ implement them.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/model/packed_batch.hpp"
#include "plugins/policies/libtorch/model/projection.hpp"
#include "plugins/policies/losses/token_loss.hpp"

namespace krl::libtorch {

using policies::LossMetrics;
using policies::TokenLossOptions;

struct Block {
  Parameter attention_norm, ffn_norm;  // [hidden]
  Projection qkv;                      // [qkv_width, hidden]
  Parameter qkv_bias;                  // [qkv_width]; undefined without
  Parameter query_norm, key_norm;      // [head_size]; undefined without
  Projection attention_out;            // [hidden, attention_width]
  Projection gate_up;                  // [2 · ffn, hidden]
  Projection down;                     // [hidden, ffn]
};

// A model's parameters as the forward pass takes them.
struct DecoderParameters {
  Parameter embedding;  // [vocabulary, hidden]
  std::vector<Block> blocks;
  Parameter final_norm;  // [hidden]
  Parameter head;        // [vocabulary, hidden]: the embedding itself where they are tied
  // The critic's parameters (critic.hpp), float32 or wider, [1, hidden] and [1]; undefined without
  // one.
  Parameter critic_weight, critic_bias;
  bool critic_detached = true;

  bool has_critic() const { return critic_weight.value.defined(); }
};

// The critic's values of last hidden states [M, hidden], without gradients: [M], float32 or wider.
at::Tensor critic_values(const DecoderParameters& parameters, const at::Tensor& hidden);

// Cosines and sines of the rotary embedding, one row a position or a token, each
// [rows, head_size / 2].
struct Angles {
  at::Tensor cosine, sine;
};

// The residual stream, and its normalised form, which the next matrix reads. Both [N, hidden].
struct Stream {
  at::Tensor sum, normed;
};

// The logarithm of the probability of each target, and the entropy of each prediction; both [M].
struct Predictions {
  at::Tensor logprobs, entropy;
};

// The inputs of the loss besides the predictions (TokenState), a number for each, [M], on the
// model's device; undefined if the loss does not read it.
struct LossInputs {
  at::Tensor factors, shares;      // float64
  at::Tensor sampled;              // float32; NaN for a token that was not sampled
  at::Tensor advantages;           // float32
  at::Tensor start, reference;     // like Predictions::logprobs; without a start, now's are used
  at::Tensor sequence_log_ratios;  // float64
  // The critic's earlier values and the returns, float32; NaN for a token that has neither.
  at::Tensor old_values, returns;
};

// LossMetrics on the model's device: float64, in the order of its members.
inline constexpr std::int64_t kLossMetrics = sizeof(LossMetrics) / sizeof(double);

// A step of AdamW over flat arrays of one type, the `step`-th from 1 on.
struct AdamWStep {
  at::Tensor weights, gradient, first_moment, second_moment;
  std::int64_t step;
  double lr, beta1, beta2, epsilon, weight_decay;
  double gradient_scale;  // multiplies the gradient of the step
};

// Tensors of a forward pass are of one floating type, on one device, and rows are one after the
// other. Const calls are thread-safe.
class Operations {
 public:
  explicit Operations(const ModelConfig& config) : config_(config) {}
  virtual ~Operations() = default;

  const ModelConfig& config() const { return config_; }
  virtual at::Device device() const = 0;
  // Returns the type of the tables of angles. REQUIRES: the model computes in `compute`.
  virtual at::ScalarType angle_type(at::ScalarType compute) const = 0;
  // True if autograd sums the gradients of parameters: their values must then be leaves.
  virtual bool parameters_are_leaves() const = 0;

  // The rows of the embedding, times config().embedding_scale. [N] int64 → [N, hidden].
  virtual at::Tensor embed(const Parameter& embedding, const at::Tensor& tokens) const = 0;

  // x / √(mean(x²) + norm_epsilon) · gain, [N, hidden].
  virtual at::Tensor rms_norm(const at::Tensor& x, const Parameter& gain) const = 0;

  // [N, inputs] → [N, outputs].
  virtual at::Tensor project(const at::Tensor& x, const Projection& projection) const = 0;

  // Causal attention within each sequence of the batch, with rotary positions, and before that the
  // bias and the norms of heads that the block has. qkv [N, qkv_width]: queries, keys, values;
  // `angles` has a row for each token. → [N, attention_width].
  virtual at::Tensor attention(const at::Tensor& qkv, const Block& block, const Angles& angles,
                               const PackedBatch& batch) const = 0;

  // Adds `projection` of x to the stream and normalises by `gain`.
  virtual Stream add_projection(const at::Tensor& stream, const at::Tensor& x,
                                const Projection& projection, const Parameter& gain) const = 0;

  // The same with silu(gate) · up for x, for rows of gate and up side by side, [N, 2 · ffn].
  virtual Stream add_feed_forward(const at::Tensor& stream, const at::Tensor& gate_up,
                                  const Projection& down, const Parameter& gain) const = 0;

  // Under softmax(hidden · headᵀ / temperature), without gradients. hidden [M, hidden], targets [M]
  // int64. Memory for logits is bounded on a GPU.
  virtual Predictions predict(const at::Tensor& hidden, const Parameter& head,
                              const at::Tensor& targets, double temperature) const = 0;

  // The loss of these predictions and, where there is a critic and its returns, of its values: sums
  // the gradients by the head, by the critic and by all that `hidden` comes from (a detached critic
  // has no part in those), and adds to `metrics` [kLossMetrics].
  virtual void learn(const at::Tensor& hidden, const DecoderParameters& parameters,
                     const at::Tensor& targets, double temperature, const TokenLossOptions& loss,
                     const LossInputs& inputs, const at::Tensor& metrics) const = 0;

  // Takes the step; the gradient is zero afterwards.
  virtual void adamw_step(const AdamWStep& step) const = 0;

 private:
  ModelConfig config_;
};

// Supports float32 and float64 on the CPU.
std::unique_ptr<Operations> make_cpu_operations(const ModelConfig& config);

}  // namespace krl::libtorch
