#include "plugins/policies/libtorch/generation/cuda/cuda_generator.hpp"

namespace krl::libtorch {

std::unique_ptr<ContinuousGenerator> make_cuda_generator(const ModelConfig& config,
                                                         const DecoderParameters& parameters,
                                                         TokenTexts texts,
                                                         const CudaGeneratorOptions& options) {
  auto decoder = std::make_unique<CudaDecoder>(config, parameters, texts.ends, options.decoder);
  return std::make_unique<ContinuousGenerator>(
      std::move(decoder), std::move(texts),
      Scheduler::Options{
          .most_slots = options.most_slots, .context = config.context, .steps = options.steps});
}

}  // namespace krl::libtorch
