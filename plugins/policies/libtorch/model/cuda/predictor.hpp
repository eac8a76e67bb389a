// The predictions of a model on a GPU and learning from them: softmax, loss and their gradients,
// over pieces of the rows, which limits the memory for logits.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>

#include "plugins/policies/libtorch/cuda/kernel_library.hpp"
#include "plugins/policies/libtorch/model/operations.hpp"

namespace krl::libtorch {

// Const calls are thread-safe; the work goes to torch's current stream.
class CudaPredictor {
 public:
  // `library` has the kernels of model/cuda/kernels and outlives this; a row of logits takes
  // `row_bytes`.
  CudaPredictor(const KernelLibrary& library, std::int64_t row_bytes)
      : row_bytes_(row_bytes),
        softmax_sums_(library.kernel("softmax_sums")),
        softmax_backward_(library.kernel("softmax_backward")),
        token_losses_(library.kernel("token_losses")) {}

  // Works as in Operations.
  Predictions predict(const at::Tensor& hidden, const Parameter& head, const at::Tensor& targets,
                      double temperature) const;
  void learn(const at::Tensor& hidden, const DecoderParameters& parameters,
             const at::Tensor& targets, double temperature, const TokenLossOptions& loss,
             const LossInputs& inputs, const at::Tensor& metrics) const;

 private:
  // Size of the logits that exist at once. Each piece adds to the head's whole gradient once more,
  // so few are better: at 135M parameters and 16k tokens 1.4 GB of traffic at 256 MiB.
  static constexpr std::int64_t kChunkBytes = std::int64_t{512} << 20;

  // Statistics of the predictions of some rows, float32, including log Σ e^logit.
  struct Softmax {
    at::Tensor logprobs, entropies, normalisers;
  };
  void softmax_sums(const at::Tensor& logits, const at::Tensor& targets, double temperature,
                    const Softmax& out) const;

  // Calls work(part) for each piece of `rows` rows whose logits are not too many at once; part(x)
  // are those rows of x.
  template <class Work>
  void for_chunks(std::int64_t rows, Work work) const {
    const std::int64_t chunk = std::max<std::int64_t>(1, kChunkBytes / row_bytes_);
    for (std::int64_t begin = 0; begin < rows; begin += chunk) {
      const std::int64_t count = std::min(chunk, rows - begin);
      work([&](const at::Tensor& x) { return x.narrow(0, begin, count); });
    }
  }

  std::int64_t row_bytes_;
  Kernel softmax_sums_, softmax_backward_, token_losses_;
};

}  // namespace krl::libtorch
