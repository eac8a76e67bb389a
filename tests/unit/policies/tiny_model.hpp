// Models that are trained in milliseconds, for tests.
#pragma once

#include "plugins/policies/libtorch/engine/local_policy.hpp"

namespace krl::libtorch {

inline EngineOptions tiny_options(int threads = 2) {
  EngineOptions options;
  options.model = {.layers = 2,
                   .hidden = 32,
                   .heads = 4,
                   .kv_heads = 2,
                   .ffn = 64,
                   .context = 128,
                   .vocabulary = 300};
  options.threads = threads;
  return options;
}

// Small enough that finite differences over its weights take moments.
inline ModelConfig smallest_config() {
  return {.layers = 2,
          .hidden = 16,
          .heads = 4,
          .kv_heads = 2,
          .ffn = 24,
          .context = 64,
          .vocabulary = 30,
          .embedding_scale = 4};
}

}  // namespace krl::libtorch
