// The device of a policy: the operations of its forward and backward passes, and its generator.
// Implemented for the CPU here and for CUDA in engine/cuda/cuda_device.cpp, in a separate engine.
// Used by one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "plugins/policies/libtorch/engine.hpp"
#include "plugins/policies/libtorch/generation/text_generator.hpp"
#include "plugins/policies/libtorch/generation/token_texts.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"

namespace krl::libtorch {

class Device {
 public:
  virtual ~Device() = default;

  // "cpu, 2 threads"
  virtual std::string description() const = 0;
  virtual std::unique_ptr<const Operations> operations(const ModelConfig& config,
                                                       at::ScalarType compute) const = 0;
  // A generator with the weights that `trainer` has now; valid until the next call. All calls are
  // for one trainer, which outlives the device, as does what `texts` refers to.
  virtual TextGenerator& generator(Trainer& trainer, const TokenTexts& texts) = 0;
  // Frees the memory that only generation needs, until it is next asked for; returns false if there
  // is none. Not while it generates.
  virtual bool release_generation_memory() { return false; }
  // The calling thread computes on this device from now on.
  virtual void make_current() const {}
};

// Makes the device of a policy's model. Throws krl::Failure (KRL_INVALID_ARGUMENT) if it cannot
// compute in options.dtype, KRL_FAILED_PRECONDITION if there is no such device.
using MakeDevice = std::unique_ptr<Device> (*)(const EngineOptions& options,
                                               WorkerThreads& threads);

std::unique_ptr<Device> make_cpu_device(const EngineOptions& options, WorkerThreads& threads);

// The scalar type of a plan's dtype. Throws krl::Failure (KRL_INVALID_ARGUMENT).
at::ScalarType scalar_type(const std::string& dtype);

}  // namespace krl::libtorch
