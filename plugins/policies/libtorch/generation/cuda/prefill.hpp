// Computes the keys and values of prompts, for all tokens except the last: packed one after the
// other without padding, each prompt once, regardless of the number of its samples. One thread, on
// torch's current stream.
#pragma once

#include <span>

#include "plugins/policies/libtorch/generation/batching/batch_decoder.hpp"
#include "plugins/policies/libtorch/generation/cuda/generation_kernels.hpp"

namespace krl::libtorch {

class Prefill {
 public:
  // If `fixed_rows` is not 0, products are done in pieces of so many rows, so that a prompt's keys
  // and values do not depend on the other prompts in the batch.
  Prefill(const DeviceModel& model, const GenerationKernels& kernels, std::int64_t fixed_rows);

  void run(std::span<const StartBatch::Prefill> prompts, const SlotCache& cache) const;

 private:
  struct Packed;

  void run_packed(std::span<const StartBatch::Prefill> prompts, const SlotCache& cache) const;
  Packed pack(std::span<const StartBatch::Prefill> prompts) const;
  // [rows, attention_width]
  at::Tensor attend(const Packed& packed, const at::Tensor& qkv, const LayerCache& cache) const;

  const DeviceModel& model_;
  const GenerationKernels& kernels_;
  std::int64_t fixed_rows_;
};

}  // namespace krl::libtorch
