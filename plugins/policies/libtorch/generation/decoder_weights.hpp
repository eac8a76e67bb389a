// A model's weights as generation on the CPU reads them.
#pragma once

#include <span>
#include <vector>

#include "generation/kernels.hpp"
#include "model/parameters.hpp"

namespace krl::libtorch {

// In the layout of the kernels.
struct DecoderWeights {
  struct Layer {
    std::vector<float> attention_norm, ffn_norm;  // [hidden]
    std::vector<float> qkv_bias;                  // [qkv_width]; empty without
    std::vector<float> query_norm, key_norm;      // [head_size]; empty without
    PackedMatrix qkv;                             // [qkv_width, hidden]: queries, keys, values
    PackedMatrix attention_out;                   // [hidden, attention_width]
    PackedMatrix gate_up;                         // [2 · ffn, hidden]: gate, up
    PackedMatrix down;                            // [hidden, ffn]
  };
  ModelConfig config;
  std::vector<float> embedding;  // [vocabulary, hidden], before embedding_scale
  std::vector<Layer> layers;
  std::vector<float> final_norm;  // [hidden]
  PackedMatrix head;              // [vocabulary, hidden]
};

// Repacks flat weights [layout.total] into the memory that `packed` has.
void pack_weights(const ParameterLayout& layout, std::span<const float> weights,
                  DecoderWeights& packed);

}  // namespace krl::libtorch
