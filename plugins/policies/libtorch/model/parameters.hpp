// The layout of a model's parameters in one flat array, so that gradients can be summed, clipped,
// stepped and saved as one. Independent of torch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/policies/libtorch/model/config.hpp"

namespace krl::libtorch {

struct ParameterSlot {
  std::string name;  // "layers.0.attention.qkv.weight"
  std::vector<std::int64_t> shape;
  std::int64_t offset;  // counted in elements
  std::int64_t size;    // number of elements
  double deviation;     // deviation of its random start; 0 = starts as `start` everywhere
  float start;
};

// Matrices first, norms and biases after `matrices_end`: weight decay is for matrices alone.
// The order of the slots is that of the functions below, layer by layer.
struct ParameterLayout {
  ModelConfig config;
  std::vector<ParameterSlot> slots;
  std::int64_t matrices_end = 0;
  std::int64_t total = 0;

  explicit ParameterLayout(const ModelConfig& config);

  std::size_t embedding() const { return 0; }  // [vocabulary, hidden]
  // The output matrix, [vocabulary, hidden]: the embedding itself where they are tied.
  std::size_t head() const { return config.tied ? embedding() : matrix(config.layers, 0); }
  std::size_t qkv(std::int64_t layer) const { return matrix(layer, 0); }  // [qkv_width, hidden]
  // [hidden, attention_width]
  std::size_t attention_out(std::int64_t layer) const { return matrix(layer, 1); }
  std::size_t gate_up(std::int64_t layer) const { return matrix(layer, 2); }  // [2 · ffn, hidden]
  std::size_t down(std::int64_t layer) const { return matrix(layer, 3); }     // [hidden, ffn]

  std::size_t attention_norm(std::int64_t layer) const { return vector(layer, 0); }  // [hidden]
  std::size_t ffn_norm(std::int64_t layer) const { return vector(layer, 1); }        // [hidden]
  // [qkv_width]. REQUIRES: config.qkv_bias().
  std::size_t qkv_bias(std::int64_t layer) const { return vector(layer, 2); }
  // [head_size]: the gains of each head of the queries, and of the keys. REQUIRES:
  // config.qk_norm().
  std::size_t query_norm(std::int64_t layer) const { return vector(layer, 2); }
  std::size_t key_norm(std::int64_t layer) const { return vector(layer, 3); }
  std::size_t final_norm() const { return vector(config.layers, 0); }  // [hidden]

 private:
  std::int64_t vectors_of_a_layer() const {
    return 2 + (config.qkv_bias() ? 1 : 0) + (config.qk_norm() ? 2 : 0);
  }
  std::size_t matrix(std::int64_t layer, int which) const {
    return static_cast<std::size_t>(1 + 4 * layer + which);
  }
  std::size_t vector(std::int64_t layer, int which) const {
    const std::int64_t matrices = 1 + 4 * config.layers + (config.tied ? 0 : 1);
    return static_cast<std::size_t>(matrices + vectors_of_a_layer() * layer + which);
  }
};

// The random start: normal numbers that follow from the seed and the slot alone.
std::vector<float> initial_weights(const ParameterLayout& layout, std::uint64_t seed);

}  // namespace krl::libtorch
