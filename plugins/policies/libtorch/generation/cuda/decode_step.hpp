// Decodes one token for every row of a batch, as a CUDA graph: from the tokens in the slots to the
// next ones, without the host. A graph is captured when a batch size is first needed and replayed
// afterwards; it stays valid as long as the addresses of weights and slots do. One thread, on
// torch's current stream.
#pragma once

#include <ATen/cuda/CUDAGraph.h>

#include <map>
#include <memory>

#include "plugins/policies/libtorch/generation/cuda/generation_kernels.hpp"

namespace krl::libtorch {

class DecodeStep {
 public:
  DecodeStep(const DeviceModel& model, const GenerationKernels& kernels);

  // Bytes that a row of a batch needs in addition to its slot.
  std::int64_t bytes_per_row() const;

  // Takes new slots, which drops all graphs. `rows` are the most of a batch.
  void reserve(const SlotCache& cache, SlotState* slots, const at::Tensor& ends, const DrawLog& log,
               std::int64_t rows);
  void release();

  // Computes rows [0, rows) of slot_of_row(). REQUIRES: torch's current stream is not the default
  // one.
  void run(std::int64_t rows);

  int* slot_of_row() const { return slot_of_row_.data_ptr<int>(); }

  // Logits of the last step, [rows, vocabulary].
  const at::Tensor& logits() const { return logits_; }

 private:
  void capture(std::int64_t rows, at::cuda::CUDAGraph& graph);
  void enqueue(std::int64_t rows, const int* slot_of_row);

  const DeviceModel& model_;
  const GenerationKernels& kernels_;
  SlotCache cache_;
  SlotState* slots_ = nullptr;
  at::Tensor ends_;
  DrawLog log_{};
  // [rows, …], shared by all graphs: only one runs at a time.
  at::Tensor slot_of_row_, states_, x_, normed_, qkv_, attended_, delta_, gate_up_, gated_,
      narrowed_, logits_, sums_;
  std::map<std::int64_t, std::unique_ptr<at::cuda::CUDAGraph>> graphs_;  // keyed by rows
};

}  // namespace krl::libtorch
