// The interface between the plugin and its engines. An engine is a separate shared library that
// links libtorch, for the CPU only or with CUDA; the plugin opens one when a policy is created, so
// that describing the plugin stays cheap. All are built together; the interface is free of torch.
#pragma once

#include <cstdint>
#include <kernelrl/policy.hpp>
#include <optional>
#include <string>

#include "plugins/policies/libtorch/distributed/rank_environment.hpp"
#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/model/critic.hpp"
#include "plugins/policies/libtorch/model/lora.hpp"
#include "plugins/policies/tokenizer/chat_template.hpp"

namespace krl::libtorch {

using policies::ChatOptions;

struct EngineOptions {
  // A model from scratch, whose `vocabulary` is the most that fit() may learn.
  ModelConfig model;
  // Or a Hugging Face directory, if not empty; of `model` only `context` counts then, as the most
  // tokens that are to be used, 0 = the model's own.
  std::string directory;
  std::string chat_template;  // a name of chat_family_by_name(); empty: the directory's own
  bool thinking = true;       // qwen3: whether answers begin with thoughts
  std::string date = ChatOptions{}.date;  // llama3.1: of today, as the model is told

  std::string device = "cpu";     // or "cuda"
  int gpu = 0;                    // index among the GPUs that the process sees
  std::string dtype = "float32";  // type of computations: bfloat16, float32 or float64
  int threads = 0;                // threads of the CPU; 0 = one per core that this process may use

  std::int64_t slots = 512;  // on a GPU: limit of samples that grow at once
  std::int64_t micro_batch_tokens = 2048;
  bool deterministic = false;  // on a GPU: gradients repeat bit for bit
  bool recompute = false;      // activations in backward, for less memory
  std::optional<LoraOptions> lora;
  std::optional<CriticOptions> critic;  // for advantage = "gae"

  RankEnvironment ranks;  // on a GPU, the rank's number on its machine is added to `gpu`
  // Until all ranks must have come, and after the last sign of life of one until it is lost.
  double ranks_start_timeout_s = 300, ranks_timeout_s = 60;
};

// An engine's one export: a policy that the caller owns and deletes before the library could be
// unloaded (it never is). Throws krl::Failure. REQUIRES: options.model that check_config() accepts.
using CreateEngine = TrainablePolicy* (*)(const EngineOptions&);
inline constexpr const char* kCreateEngineSymbol = "kernelrl_create_torch_engine";
inline constexpr const char* kCpuEngineFile = "libkernelrl_torch_engine.so";
inline constexpr const char* kCudaEngineFile = "libkernelrl_torch_cuda_engine.so";

}  // namespace krl::libtorch
