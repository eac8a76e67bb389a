#include "plugins/policies/libtorch/generation/cuda/generation_kernels.hpp"

namespace krl::libtorch {
namespace {

constexpr int kCopyThreads = 256, kStartThreads = 64;

}  // namespace

GenerationKernels::GenerationKernels(const DeviceModel& model)
    : model_(model),
      shape_(kernel_shape(model.config, model.precision)),
      tensor_(libtorch::uses_tensor_attention(model.config, model.precision)),
      library_("generation", generation_kernels(model.config, model.precision),
               generation_defines(model.config, model.precision)) {
  embed_step_ = library_.kernel("embed_step");
  embed_prompts_ = library_.kernel("embed_prompts");
  add_and_norm_ = library_.kernel("add_and_norm");
  gate_ = library_.kernel("gate");
  prepare_prompts_ = library_.kernel("prepare_prompts");
  copy_prompts_ = library_.kernel("copy_prompts");
  start_slots_ = library_.kernel("start_slots");
  sum_chunks_ = library_.kernel("sum_chunks");
  draw_ = library_.kernel("draw");
  if (tensor_) {
    tensor_attention_ = library_.kernel("tensor_attention");
  } else {
    prepare_step_ = library_.kernel("prepare_step");
    attend_step_ = library_.kernel("attend_step");
    attend_prompts_ = library_.kernel("attend_prompts");
  }
}

void GenerationKernels::embed_step(std::int64_t rows, const int* slot_of_row,
                                   const SlotState* slots, RowState* states, int* step,
                                   const at::Tensor& x, const at::Tensor& out) const {
  embed_step_({rows}, shape_.row_threads, slot_of_row, slots, states, step,
              model_.embedding.data_ptr(), static_cast<float>(model_.config.embedding_scale),
              model_.layers.front().attention_norm.data_ptr(),
              static_cast<float>(model_.config.norm_epsilon), x.data_ptr(), out.data_ptr());
}

void GenerationKernels::embed_prompts(const PromptRows& prompts, const at::Tensor& x,
                                      const at::Tensor& out) const {
  embed_prompts_({x.size(0)}, shape_.row_threads, prompts.tokens, model_.embedding.data_ptr(),
                 static_cast<float>(model_.config.embedding_scale),
                 model_.layers.front().attention_norm.data_ptr(),
                 static_cast<float>(model_.config.norm_epsilon), x.data_ptr(), out.data_ptr());
}

void GenerationKernels::add_and_norm(const Rows& rows, const at::Tensor& delta,
                                     const at::Tensor& gain, const at::Tensor& x,
                                     const at::Tensor& out) const {
  add_and_norm_({rows.count}, shape_.row_threads, rows.states, delta.data_ptr(), gain.data_ptr(),
                static_cast<float>(model_.config.norm_epsilon), x.data_ptr(), out.data_ptr());
}

void GenerationKernels::gate(const Rows& rows, const at::Tensor& gate_up,
                             const at::Tensor& out) const {
  gate_({rows.count, shape_.gate_blocks}, kGenerationGateThreads, rows.states, gate_up.data_ptr(),
        out.data_ptr());
}

void GenerationKernels::attend(const Rows& rows, const at::Tensor& qkv, const HeadWeights& weights,
                               const LayerCache& cache, const at::Tensor& out) const {
  if (tensor_) {
    tensor_attention_({rows.count * model_.config.kv_heads}, kTensorAttentionThreads, rows.states,
                      qkv.data_ptr(), weights, cache, out.data_ptr());
    return;
  }
  prepare_step_({rows.count}, kPrepareThreads, rows.states, qkv.data_ptr(), weights, cache);
  attend_step_({rows.count, model_.config.heads}, kAttendThreads, rows.states, qkv.data_ptr(),
               cache, out.data_ptr());
}

void GenerationKernels::prepare_prompts(const PromptRows& prompts, const at::Tensor& qkv,
                                        const HeadWeights& weights, const LayerCache& cache) const {
  prepare_prompts_({qkv.size(0)}, kPrepareThreads, prompts.positions, prompts.prompts,
                   prompts.first_copy, prompts.copies, qkv.data_ptr(), weights, cache);
}

void GenerationKernels::attend_prompts(const PromptRows& prompts, const at::Tensor& qkv,
                                       const LayerCache& cache, const at::Tensor& out) const {
  attend_prompts_({qkv.size(0), model_.config.heads}, kAttendThreads, prompts.positions,
                  prompts.prompts, prompts.first_copy, prompts.copies, qkv.data_ptr(), cache,
                  out.data_ptr());
}

void GenerationKernels::copy_prompts(const PromptCopy* copies, std::size_t count,
                                     const SlotCache& cache) const {
  copy_prompts_({static_cast<std::int64_t>(count), model_.config.layers * model_.config.kv_heads},
                kCopyThreads, copies, cache.keys.data_ptr(), cache.values.data_ptr(),
                static_cast<int>(cache.slots()), static_cast<int>(cache.positions()));
}

void GenerationKernels::start_slots(const SlotStart* starts, std::size_t count,
                                    SlotState* slots) const {
  const auto blocks = static_cast<std::int64_t>((count + kStartThreads - 1) / kStartThreads);
  start_slots_({blocks}, kStartThreads, starts, static_cast<int>(count), slots);
}

void GenerationKernels::draw(const Rows& rows, SlotState* slots, const at::Tensor& logits,
                             ChunkSum* sums, const at::Tensor& ends, const DrawLog& log) const {
  sum_chunks_({shape_.logit_chunks, rows.count}, kSampleThreads, rows.states, slots,
              logits.data_ptr(), sums);
  draw_({rows.count}, kSampleThreads, rows.states, slots, logits.data_ptr(), sums, log.step,
        ends.data_ptr(), static_cast<int>(ends.numel()), log.slots, log.tokens, log.logprobs);
}

}  // namespace krl::libtorch
