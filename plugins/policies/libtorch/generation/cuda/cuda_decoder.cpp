#include "plugins/policies/libtorch/generation/cuda/cuda_decoder.hpp"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <bit>
#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/generation/cuda/upload.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

constexpr std::int64_t kPositionStep = 64;   // slots are made for multiples of it
constexpr std::int64_t kPrefillPiece = 128;  // rows, if they are fixed

// Selects the decoder's stream and device, and disables autograd, in this scope.
struct OnStream {
  explicit OnStream(const c10::cuda::CUDAStream& stream) : guard(stream) {}
  c10::cuda::CUDAStreamGuard guard;
  at::NoGradGuard no_grad;
};

GenerationKernels kernels_on(const DeviceModel& model) {
  const c10::cuda::CUDAGuard device(model.device());
  return GenerationKernels(model);
}

}  // namespace

CudaDecoder::CudaDecoder(const ModelConfig& config, const DecoderParameters& parameters,
                         std::vector<TokenId> ends, CudaDecoderOptions options)
    : model_(config, parameters),
      stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, model_.device().index())),
      kernels_(kernels_on(model_)),
      step_(model_, kernels_),
      prefill_(model_, kernels_, options.fixed_rows == 0 ? 0 : kPrefillPiece),
      options_(options) {
  const OnStream on_stream(stream_);
  ends_ = upload(ends, model_.device()).view(at::kInt);
  step_count_ = at::zeros({1}, model_.options().dtype(at::kInt));
  for (Log& log : logs_) {
    C10_CUDA_CHECK(
        cudaEventCreateWithFlags(&log.copied, cudaEventDisableTiming | cudaEventBlockingSync));
  }
}

CudaDecoder::~CudaDecoder() {
  for (const Log& log : logs_) cudaEventDestroy(log.copied);
}

std::int64_t CudaDecoder::bytes_per_slot(std::int64_t positions) const {
  const std::int64_t cached = 2 * model_.config.layers * model_.config.kv_width() * positions;
  return cached * model_.embedding.element_size() + step_.bytes_per_row() +
         static_cast<std::int64_t>(sizeof(SlotState)) + kMostSteps * 8;
}

BatchDecoder::Capacity CudaDecoder::reserve(std::int64_t slots, std::int64_t positions) {
  const OnStream on_stream(stream_);
  if (options_.fixed_rows != 0) slots = options_.fixed_rows;
  positions = (positions + kPositionStep - 1) / kPositionStep * kPositionStep;
  if (slots <= cache_.slots() && positions <= cache_.positions()) {
    return {cache_.slots(), cache_.positions()};
  }
  release();
  std::size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  const auto budget = static_cast<std::int64_t>(options_.memory_share * static_cast<double>(free));
  const std::int64_t fitting = std::min(slots, budget / bytes_per_slot(positions));
  if (fitting < 1 || fitting < options_.fixed_rows) {
    throw Failure(KRL_RESOURCE_EXHAUSTED,
                  "the GPU does not have enough memory for generation: a sample of " +
                      std::to_string(positions) + " tokens needs " +
                      std::to_string(bytes_per_slot(positions) >> 20) + " MiB, and " +
                      std::to_string(budget >> 20) +
                      " MiB may be used; shorten prompts or answers, or free memory");
  }
  make_slots(fitting, positions);
  return {fitting, positions};
}

void CudaDecoder::make_slots(std::int64_t slots, std::int64_t positions) {
  const ModelConfig& config = model_.config;
  const auto options = model_.options();
  const std::vector<std::int64_t> shape = {config.layers, slots, config.kv_heads, positions,
                                           config.head_size()};
  cache_ = {at::empty(shape, options), at::empty(shape, options)};
  SlotState idle{};
  idle.position = -1;
  slots_ = upload(std::vector<SlotState>(static_cast<std::size_t>(slots), idle), model_.device());
  tokens_ = at::zeros({kMostSteps, slots}, options.dtype(at::kInt));
  logprobs_ = at::zeros({kMostSteps, slots}, options.dtype(at::kFloat));
  const auto pinned = at::TensorOptions().pinned_memory(true);
  for (Log& log : logs_) {
    log.tokens = at::empty({kMostSteps, slots}, pinned.dtype(at::kInt));
    log.logprobs = at::empty({kMostSteps, slots}, pinned.dtype(at::kFloat));
  }
  step_.reserve(cache_, static_cast<SlotState*>(slots_.data_ptr()), ends_,
                {step_count_.data_ptr<int>(), tokens_.data_ptr<int>(), logprobs_.data_ptr<float>(),
                 static_cast<int>(slots)},
                slots);
}

void CudaDecoder::release() {
  const OnStream on_stream(stream_);
  stream_.synchronize();
  step_.release();
  cache_ = {};
  rows_.clear();
  c10::cuda::CUDACachingAllocator::emptyCache();
}

void CudaDecoder::start(const StartBatch& batch) {
  const OnStream on_stream(stream_);
  const at::Device device = model_.device();
  if (!batch.copies.empty()) {
    const at::Tensor copies = upload(batch.copies, device);
    kernels_.copy_prompts(static_cast<const PromptCopy*>(copies.const_data_ptr()),
                          batch.copies.size(), cache_);
  }
  prefill_.run(batch.prefills, cache_);
  const at::Tensor starts = upload(batch.starts, device);
  kernels_.start_slots(static_cast<const SlotStart*>(starts.const_data_ptr()), batch.starts.size(),
                       static_cast<SlotState*>(slots_.data_ptr()));
}

std::int64_t CudaDecoder::rows_for(std::int64_t live) const {
  if (options_.fixed_rows != 0) return options_.fixed_rows;
  const auto rounded = [live](std::int64_t step) { return (live + step - 1) / step * step; };
  std::int64_t rows = 0;
  if (live <= 64) {
    rows = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(live)));
  } else {
    rows = rounded(live <= 512 ? 64 : 256);
  }
  return std::min(rows, cache_.slots());
}

void CudaDecoder::advance(std::span<const int> slots, int steps) {
  const OnStream on_stream(stream_);
  const std::int64_t rows = rows_for(static_cast<std::int64_t>(slots.size()));
  std::vector<int> slot_of_row(slots.begin(), slots.end());
  slot_of_row.resize(static_cast<std::size_t>(rows), -1);
  if (slot_of_row != rows_) {
    upload_to(slot_of_row, step_.slot_of_row());
    rows_ = std::move(slot_of_row);
  }
  step_count_.fill_(-1);  // the first step counts up to 0
  for (int step = 0; step < steps; ++step) step_.run(rows);
  Log& log = logs_[advanced_++ % logs_.size()];
  log.steps = steps;
  log.tokens.narrow(0, 0, steps).copy_(tokens_.narrow(0, 0, steps), /*non_blocking=*/true);
  log.logprobs.narrow(0, 0, steps).copy_(logprobs_.narrow(0, 0, steps), /*non_blocking=*/true);
  C10_CUDA_CHECK(cudaEventRecord(log.copied, stream_.stream()));
}

DrawnTokens CudaDecoder::collect() {
  const Log& log = logs_[collected_++ % logs_.size()];
  C10_CUDA_CHECK(cudaEventSynchronize(log.copied));
  const auto count = static_cast<std::size_t>(log.steps * cache_.slots());
  return {{log.tokens.const_data_ptr<int>(), count},
          {log.logprobs.const_data_ptr<float>(), count},
          log.steps,
          static_cast<int>(cache_.slots())};
}

void CudaDecoder::reset() {
  advanced_ = collected_ = 0;
  rows_.clear();
  cache_ = {};
}

void CudaDecoder::weights_ready() {
  c10::cuda::getCurrentCUDAStream(model_.device().index()).synchronize();
}

}  // namespace krl::libtorch
