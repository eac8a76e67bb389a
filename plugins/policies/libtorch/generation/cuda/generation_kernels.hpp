// The kernels of generation, loaded, with their arguments. One thread; launched on torch's current
// stream.
#pragma once

#include "plugins/policies/libtorch/cuda/kernel_library.hpp"
#include "plugins/policies/libtorch/generation/cuda/device_model.hpp"

namespace krl::libtorch {

// The slots, as tensors.
struct SlotCache {
  at::Tensor keys, values;  // [layers, slots, kv_heads, positions, head_size]
  std::int64_t slots() const { return keys.defined() ? keys.size(1) : 0; }
  std::int64_t positions() const { return keys.defined() ? keys.size(3) : 0; }
  LayerCache layer(std::int64_t i) const {
    return {keys.select(0, i).data_ptr(), values.select(0, i).data_ptr(),
            static_cast<int>(positions())};
  }
};

// The rows that a kernel computes: in a decode step those that are not idle, in a prefill all.
struct Rows {
  std::int64_t count;
  const RowState* states = nullptr;  // [count]; null of a prefill
};

// The rows of a prefill, on the device (kernels/heads.cu).
struct PromptRows {
  const int* tokens;
  const int* positions;
  const int* prompts;
  const int* first_copy;
  const int* copies;
};

// The memory where the sampling kernel puts its tokens.
struct DrawLog {
  int* step;  // step in the block, counted by embed_step
  int* tokens;
  float* logprobs;
  int slots;
};

class GenerationKernels {
 public:
  // Compiles or loads them for the current device.
  explicit GenerationKernels(const DeviceModel& model);

  // The start of a step for rows [0, rows) of slot_of_row: fills `states` and counts `step`.
  void embed_step(std::int64_t rows, const int* slot_of_row, const SlotState* slots,
                  RowState* states, int* step, const at::Tensor& x, const at::Tensor& out) const;
  void embed_prompts(const PromptRows& prompts, const at::Tensor& x, const at::Tensor& out) const;
  void add_and_norm(const Rows& rows, const at::Tensor& delta, const at::Tensor& gain,
                    const at::Tensor& x, const at::Tensor& out) const;
  void gate(const Rows& rows, const at::Tensor& gate_up, const at::Tensor& out) const;

  // Decode attention of one layer, with all that comes between its two products.
  void attend(const Rows& rows, const at::Tensor& qkv, const HeadWeights& weights,
              const LayerCache& cache, const at::Tensor& out) const;

  // Prepares a prefill (heads ready in `qkv`, keys and values in the slots); then computes
  // attention in float32 arithmetic, for shapes that flash attention does not support.
  void prepare_prompts(const PromptRows& prompts, const at::Tensor& qkv, const HeadWeights& weights,
                       const LayerCache& cache) const;
  void attend_prompts(const PromptRows& prompts, const at::Tensor& qkv, const LayerCache& cache,
                      const at::Tensor& out) const;
  bool uses_tensor_attention() const { return tensor_; }

  void copy_prompts(const PromptCopy* copies, std::size_t count, const SlotCache& cache) const;
  void start_slots(const SlotStart* starts, std::size_t count, SlotState* slots) const;

  // Draws a token for each row of `logits`. `sums` is [rows, logit_chunks()] of ChunkSum.
  void draw(const Rows& rows, SlotState* slots, const at::Tensor& logits, ChunkSum* sums,
            const at::Tensor& ends, const DrawLog& log) const;
  int logit_chunks() const { return shape_.logit_chunks; }

 private:
  const DeviceModel& model_;
  KernelShape shape_;
  bool tensor_;
  KernelLibrary library_;
  Kernel embed_step_, embed_prompts_, add_and_norm_, gate_, tensor_attention_, prepare_step_,
      attend_step_, prepare_prompts_, attend_prompts_, copy_prompts_, start_slots_, sum_chunks_,
      draw_;
};

}  // namespace krl::libtorch
