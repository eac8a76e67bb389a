// The generator for CUDA: CudaDecoder under ContinuousGenerator.
#pragma once

#include <memory>

#include "plugins/policies/libtorch/generation/batching/continuous_generator.hpp"
#include "plugins/policies/libtorch/generation/cuda/cuda_decoder.hpp"

namespace krl::libtorch {

struct CudaGeneratorOptions {
  std::int64_t most_slots = 256;  // samples that grow at once, at most
  int steps = 8;                  // between two looks at what has ended
  CudaDecoderOptions decoder;
};

// `parameters` on a GPU, bfloat16 or float32, are used where they are, adapters alongside what they
// adapt: what an optimiser step writes into them counts from the next call on. They must not change
// while a call runs, and outlive the generator, as must what `texts` refers to. Throws krl::Failure
// if kernels cannot be compiled (kernel_compiler.hpp) or the parameters are not as said.
std::unique_ptr<ContinuousGenerator> make_cuda_generator(const ModelConfig& config,
                                                         const DecoderParameters& parameters,
                                                         TokenTexts texts,
                                                         const CudaGeneratorOptions& options);

}  // namespace krl::libtorch
