// Where each parameter of a model lies in one flat array, so that gradients can be summed,
// clipped, stepped and saved as one. Knows nothing of torch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generation/decoder.hpp"
#include "model/config.hpp"

namespace krl::libtorch {

struct ParameterSlot {
  std::string name;  // "layers.0.attention.qkv.weight"
  std::vector<std::int64_t> shape;
  std::int64_t offset;  // in elements
  std::int64_t size;    // number of elements
  double deviation;     // of its random start; 0 = starts as ones
};

// Matrices first, norms after `matrices_end`: weight decay is for matrices alone.
// The order of the slots is that of the constants below, layer by layer.
struct ParameterLayout {
  ModelConfig config;
  std::vector<ParameterSlot> slots;
  std::int64_t matrices_end = 0;
  std::int64_t total = 0;

  explicit ParameterLayout(const ModelConfig& config);

  std::size_t embedding() const { return 0; }
  std::size_t qkv(std::int64_t layer) const { return matrix(layer, 0); }
  std::size_t attention_out(std::int64_t layer) const { return matrix(layer, 1); }
  std::size_t gate_up(std::int64_t layer) const { return matrix(layer, 2); }
  std::size_t down(std::int64_t layer) const { return matrix(layer, 3); }
  std::size_t attention_norm(std::int64_t layer) const { return norm(layer, 0); }
  std::size_t ffn_norm(std::int64_t layer) const { return norm(layer, 1); }
  std::size_t final_norm() const { return norm(config.layers, 0); }

 private:
  std::size_t matrix(std::int64_t layer, int which) const {
    return static_cast<std::size_t>(1 + 4 * layer + which);
  }
  std::size_t norm(std::int64_t layer, int which) const {
    return static_cast<std::size_t>(1 + 4 * config.layers + 2 * layer + which);
  }
};

// The random start: normal numbers that follow from the seed and the slot alone.
std::vector<float> initial_weights(const ParameterLayout& layout, std::uint64_t seed);

// Repacks flat weights for the decoder, into the memory that `packed` has.
void pack_weights(const ParameterLayout& layout, std::span<const float> weights,
                  DecoderWeights& packed);

}  // namespace krl::libtorch
