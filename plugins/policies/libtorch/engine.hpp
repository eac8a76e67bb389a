// What the plugin and the engine agree on. The engine is a shared library of its own that links
// libtorch; the plugin opens it when a policy is created, so that describing the plugin stays
// cheap. Both are built together; the boundary between them is free of torch.
#pragma once

#include <cstdint>
#include <kernelrl/policy.hpp>
#include <string>

#include "model/config.hpp"

namespace krl::libtorch {

struct EngineOptions {
  ModelConfig model;  // `vocabulary` is the most that fit() may learn
  int threads = 0;    // 0 = one per core that this process may use
  std::int64_t micro_batch_tokens = 2048;
  std::string dtype = "float32";  // of training: float32 or float64
};

// The engine's one export: a policy that the caller owns and deletes before the library could be
// unloaded (it never is). Throws krl::Failure. REQUIRES: options that check_config() accepts.
using CreateEngine = TrainablePolicy* (*)(const EngineOptions&);
inline constexpr const char* kCreateEngineSymbol = "kernelrl_create_torch_engine";
inline constexpr const char* kEngineFile = "libkernelrl_torch_engine.so";

}  // namespace krl::libtorch
