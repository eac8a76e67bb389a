// The generator for CUDA: CudaDecoder under ContinuousGenerator.
#pragma once

#include <memory>

#include "plugins/policies/libtorch/generation/batching/continuous_generator.hpp"
#include "plugins/policies/libtorch/generation/cuda/cuda_decoder.hpp"

namespace krl::libtorch {

struct CudaGeneratorOptions {
  std::int64_t most_slots = 256;  // samples that grow at once, at most
  int steps = 8;                  // steps between two checks for ended samples
  CudaDecoderOptions decoder;
};

// Makes a generator. `parameters` on a GPU, bfloat16 or float32, are used in place, with adapters
// alongside: an optimiser step's changes count from the next call on. They must not change while a
// call runs, and outlive the generator, as must the objects that `texts` refers to. Throws
// krl::Failure if kernels cannot be compiled (kernel_compiler.hpp) or the parameters do not meet
// these conditions.
std::unique_ptr<ContinuousGenerator> make_cuda_generator(const ModelConfig& config,
                                                         const DecoderParameters& parameters,
                                                         TokenTexts texts,
                                                         const CudaGeneratorOptions& options);

}  // namespace krl::libtorch
