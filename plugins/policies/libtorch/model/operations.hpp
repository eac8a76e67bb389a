// The operations of a decoder that each device computes in its own way, with their derivatives.
// llama.cpp puts them together; model/cpu/ and model/cuda/ implement them.
#pragma once

#include <memory>

#include "model/config.hpp"
#include "model/packed_batch.hpp"
#include "model/projection.hpp"
#include "torch.hpp"

namespace krl::libtorch {

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
};

// Cosines and sines of the rotary embedding, one row a position or a token, each
// [rows, head_size / 2].
struct Angles {
  at::Tensor cosine, sine;
};

// The residual stream, and what the next matrix reads of it: the stream normalised. Both
// [N, hidden].
struct Stream {
  at::Tensor sum, normed;
};

// The logarithm of the probability of each target, and the entropy of each prediction; both [M].
struct Predictions {
  at::Tensor logprobs, entropy;
};

// Tensors of a forward pass are of one floating type, on one device, and rows lie one after the
// other. Const calls are thread-safe.
class Operations {
 public:
  explicit Operations(const ModelConfig& config) : config_(config) {}
  virtual ~Operations() = default;

  const ModelConfig& config() const { return config_; }
  virtual at::Device device() const = 0;
  // Of the tables of angles. REQUIRES: the model computes in `compute`.
  virtual at::ScalarType angle_type(at::ScalarType compute) const = 0;
  // Whether autograd sums the gradients of parameters: their values must then be leaves.
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

  // Under softmax(hidden · headᵀ / temperature). hidden [M, hidden], targets [M] int64.
  virtual Predictions predict(const at::Tensor& hidden, const Parameter& head,
                              const at::Tensor& targets, double temperature) const = 0;

 private:
  ModelConfig config_;
};

// For float32 and float64 on the CPU.
std::unique_ptr<Operations> make_cpu_operations(const ModelConfig& config);

}  // namespace krl::libtorch
