// The forward pass of generation on the CPU: a batch of single tokens, each with the keys and
// values of its prefix, in float32 and without autograd.
//
// Weights are shared and only read while decoders use them; a decoder belongs to one thread, and so
// does each cache while it is written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/policies/libtorch/generation/decoder_weights.hpp"
#include "plugins/policies/libtorch/model/rotary_table.hpp"

namespace krl::libtorch {

// Keys and values of up to `capacity` positions in all layers.
class KeyValueCache {
 public:
  KeyValueCache(const ModelConfig& config, std::int64_t capacity);

  // The first `length` positions of one head of one layer.
  AttentionSpan span(std::int64_t layer, std::int64_t head, std::int64_t length) const;

  // Stores the keys and values of all heads ([kv_heads, head_size] each) at `position`.
  void put(std::int64_t layer, std::int64_t position, const float* keys, const float* values);

 private:
  std::int64_t offset(std::int64_t layer, std::int64_t head) const;

  std::int64_t heads_, head_size_, capacity_;
  std::vector<float> keys_, values_;
};

// One token to compute: it attends to `shared_length` positions of `shared` (may be null with
// length 0), then to the positions 0..index of `own`, where its own keys and values are put.
struct DecoderRow {
  std::int32_t token;
  std::int64_t position;  // position in the whole sequence
  const KeyValueCache* shared;
  std::int64_t shared_length;
  KeyValueCache* own;
  std::int64_t index;
};

class Decoder {
 public:
  // The most rows of one call of run().
  static constexpr std::int64_t kRows = 64;

  explicit Decoder(const DecoderWeights& weights);

  // Computes the rows together; rows of the same `own` must be neighbours in ascending order of
  // index. Returns the logits [n, vocabulary] of the last `n` rows, valid until the next call.
  // REQUIRES: 1 <= n <= rows.size() <= kRows; tokens inside the vocabulary; positions < context.
  std::span<const float> run(std::span<const DecoderRow> rows, std::int64_t n);

 private:
  void attention(std::span<const DecoderRow> rows, std::int64_t layer);
  void prepare_heads(float* qkv, std::int64_t position, const DecoderWeights::Layer& layer);
  void feed_forward(std::int64_t rows, const DecoderWeights::Layer& layer);
  // out [rows, outputs] = (or +=) `in` through the projection.
  void project(const float* in, std::int64_t rows, const PackedProjection& projection, float* out,
               Store store);
  void rotate(float* head, std::int64_t position) const;

  const DecoderWeights& weights_;
  const Kernels& kernels_;
  RotaryTable rotary_;
  std::vector<float> x_, normed_, qkv_, attended_, gate_up_, gated_, narrowed_, scores_, logits_;
};

}  // namespace krl::libtorch
