// A model that is trained in milliseconds, for tests.
#pragma once

#include "engine/local_policy.hpp"

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

}  // namespace krl::libtorch
