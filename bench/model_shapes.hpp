// The models whose speed is measured: shapes alone, as weights are random and change no time.
#pragma once

#include <cstdint>
#include <kernelrl/values.hpp>
#include <string>

#include "plugins/policies/libtorch/model/config.hpp"

namespace krl::bench {

inline libtorch::ModelConfig smollm2_135m(std::int64_t context) {
  return {.layers = 30,
          .hidden = 576,
          .heads = 9,
          .kv_heads = 3,
          .ffn = 1536,
          .context = context,
          .vocabulary = 49152,
          .rope_theta = 100000};
}

inline libtorch::ModelConfig qwen25_1_5b(std::int64_t context) {
  return {.family = libtorch::Family::kQwen2,
          .layers = 28,
          .hidden = 1536,
          .heads = 12,
          .kv_heads = 2,
          .ffn = 8960,
          .context = context,
          .vocabulary = 151936,
          .rope_theta = 1000000};
}

// Of Qwen2.5 with 14 (48 layers) and 32 billion parameters (64).
inline libtorch::ModelConfig large_qwen25(std::int64_t layers, std::int64_t ffn,
                                          std::int64_t context) {
  return {.family = libtorch::Family::kQwen2,
          .layers = layers,
          .hidden = 5120,
          .heads = 40,
          .kv_heads = 8,
          .ffn = ffn,
          .context = context,
          .vocabulary = 152064,
          .rope_theta = 1000000,
          .tied = false};
}

// By its name on a command line. Throws krl::Failure (KRL_INVALID_ARGUMENT) for others.
inline libtorch::ModelConfig model_shape(const std::string& name, std::int64_t context) {
  if (name == "smollm2-135m") return smollm2_135m(context);
  if (name == "qwen2.5-1.5b") return qwen25_1_5b(context);
  if (name == "qwen2.5-14b") return large_qwen25(48, 13824, context);
  if (name == "qwen2.5-32b") return large_qwen25(64, 27648, context);
  invalid_argument("unknown model '" + name +
                   "'; known are smollm2-135m, qwen2.5-1.5b, qwen2.5-14b and qwen2.5-32b");
}

}  // namespace krl::bench
