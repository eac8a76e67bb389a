// A BatchDecoder on a GPU.
#pragma once

#include <c10/cuda/CUDAStream.h>

#include <array>

#include "plugins/policies/libtorch/generation/batching/batch_decoder.hpp"
#include "plugins/policies/libtorch/generation/cuda/decode_step.hpp"
#include "plugins/policies/libtorch/generation/cuda/prefill.hpp"

namespace krl::libtorch {

struct CudaDecoderOptions {
  // The most of the GPU's free memory that the slots may take, when they are made.
  double memory_share = 0.8;
  // If not 0, every step computes so many rows, and prompts are computed in pieces of a fixed size:
  // in float32 a sample is then the same to the last bit, alone or in company. For tests.
  std::int64_t fixed_rows = 0;
};

class CudaDecoder final : public BatchDecoder {
 public:
  // `parameters` as for DeviceModel, `ends` as in TokenTexts. Compiles kernels, or loads them.
  CudaDecoder(const ModelConfig& config, const DecoderParameters& parameters,
              std::vector<TokenId> ends, CudaDecoderOptions options);
  ~CudaDecoder() override;

  Capacity reserve(std::int64_t slots, std::int64_t positions) override;
  void release() override;
  void start(const StartBatch& batch) override;
  void advance(std::span<const int> slots, int steps) override;
  DrawnTokens collect() override;
  void reset() override;
  void weights_ready() override;

  // Logits of the last step, [rows, vocabulary], rows in the order of advance()'s slots; for tests.
  // The caller's stream has to wait for the decoder's, as collect() does.
  const at::Tensor& logits() const { return step_.logits(); }

 private:
  // The results of an advance() for the host, in pinned memory.
  struct Log {
    at::Tensor tokens, logprobs;  // [kMostSteps, slots]
    cudaEvent_t copied = nullptr;
    int steps = 0;
  };

  std::int64_t bytes_per_slot(std::int64_t positions) const;
  void make_slots(std::int64_t slots, std::int64_t positions);
  // The rows of the graph that computes `live` slots: a few sizes for all numbers.
  std::int64_t rows_for(std::int64_t live) const;

  DeviceModel model_;
  c10::cuda::CUDAStream stream_;
  GenerationKernels kernels_;
  DecodeStep step_;
  Prefill prefill_;
  CudaDecoderOptions options_;
  SlotCache cache_;
  at::Tensor ends_;               // [ends] int32
  at::Tensor slots_;              // bytes of SlotState, [slots]
  at::Tensor step_count_;         // int32
  at::Tensor tokens_, logprobs_;  // [kMostSteps, slots]
  std::vector<int> rows_;         // contents of slot_of_row
  std::array<Log, kMostUnderWay> logs_;
  std::size_t advanced_ = 0, collected_ = 0;
};

}  // namespace krl::libtorch
