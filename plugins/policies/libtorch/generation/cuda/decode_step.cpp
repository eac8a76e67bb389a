#include "plugins/policies/libtorch/generation/cuda/decode_step.hpp"

#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {

DecodeStep::DecodeStep(const DeviceModel& model, const GenerationKernels& kernels)
    : model_(model), kernels_(kernels) {}

std::int64_t DecodeStep::bytes_per_row() const {
  const ModelConfig& config = model_.config;
  const std::int64_t elements = 3 * config.hidden + config.qkv_width() + config.attention_width() +
                                3 * config.ffn + config.vocabulary + model_.narrowed_width();
  return elements * model_.embedding.element_size() +
         kernels_.logit_chunks() * static_cast<std::int64_t>(sizeof(ChunkSum));
}

void DecodeStep::release() {
  graphs_.clear();
  cache_ = {};
  for (at::Tensor* tensor : {&slot_of_row_, &states_, &x_, &normed_, &qkv_, &attended_, &delta_,
                             &gate_up_, &gated_, &narrowed_, &logits_, &sums_}) {
    *tensor = at::Tensor();
  }
}

void DecodeStep::reserve(const SlotCache& cache, SlotState* slots, const at::Tensor& ends,
                         const DrawLog& log, std::int64_t rows) {
  release();
  cache_ = cache;
  slots_ = slots;
  ends_ = ends;
  log_ = log;
  const ModelConfig& config = model_.config;
  const auto ints = model_.options().dtype(at::kInt);
  slot_of_row_ = at::full({rows}, -1, ints);
  states_ = at::empty({rows, sizeof(RowState) / sizeof(int)}, ints);
  // Zeros are needed because idle rows go through the products too, and must not contain NaN.
  const auto rows_of = [&](std::int64_t width) { return model_.empty({rows, width}).zero_(); };
  x_ = rows_of(config.hidden);
  normed_ = rows_of(config.hidden);
  qkv_ = rows_of(config.qkv_width());
  attended_ = rows_of(config.attention_width());
  delta_ = rows_of(config.hidden);
  gate_up_ = rows_of(2 * config.ffn);
  gated_ = rows_of(config.ffn);
  narrowed_ = rows_of(model_.narrowed_width());
  logits_ = rows_of(config.vocabulary);
  constexpr std::int64_t kWords = sizeof(ChunkSum) / sizeof(int);
  sums_ = at::empty({rows, kernels_.logit_chunks(), kWords}, ints);
}

void DecodeStep::run(std::int64_t rows) {
  auto& graph = graphs_[rows];
  if (graph == nullptr) {
    auto captured = std::make_unique<at::cuda::CUDAGraph>();
    capture(rows, *captured);
    graph = std::move(captured);
  }
  graph->replay();
}

void DecodeStep::capture(std::int64_t rows, at::cuda::CUDAGraph& graph) {
  // Products choose and load their kernels at the first call, which a capture cannot hold. That
  // call computes idle rows, and so changes nothing but the count of steps.
  const at::Tensor idle = at::full_like(slot_of_row_, -1);
  const at::Tensor step = at::zeros({1}, idle.options());
  const DrawLog log =
      std::exchange(log_, {step.data_ptr<int>(), log_.tokens, log_.logprobs, log_.slots});
  enqueue(rows, idle.const_data_ptr<int>());
  log_ = log;
  graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  enqueue(rows, slot_of_row());
  graph.capture_end();
}

void DecodeStep::enqueue(std::int64_t count, const int* slot_of_row) {
  const auto top = [&](const at::Tensor& buffer) { return buffer.narrow(0, 0, count); };
  at::Tensor x = top(x_), normed = top(normed_), qkv = top(qkv_), attended = top(attended_),
             delta = top(delta_), gate_up = top(gate_up_), gated = top(gated_),
             logits = top(logits_);
  auto* states = static_cast<RowState*>(states_.data_ptr());
  const Rows rows{count, states};
  kernels_.embed_step(count, slot_of_row, slots_, states, log_.step, x, normed);
  for (std::size_t i = 0; i < model_.layers.size(); ++i) {
    const DeviceModel::Layer& layer = model_.layers[i];
    project_into(layer.qkv, normed, qkv, narrowed_);
    kernels_.attend(rows, qkv, layer.heads, cache_.layer(static_cast<std::int64_t>(i)), attended);
    project_into(layer.attention_out, attended, delta, narrowed_);
    kernels_.add_and_norm(rows, delta, layer.ffn_norm, x, normed);
    project_into(layer.gate_up, normed, gate_up, narrowed_);
    kernels_.gate(rows, gate_up, gated);
    project_into(layer.down, gated, delta, narrowed_);
    kernels_.add_and_norm(rows, delta, model_.norm_after(i), x, normed);
  }
  at::mm_out(logits, normed, model_.head);
  kernels_.draw(rows, slots_, logits, static_cast<ChunkSum*>(sums_.data_ptr()), ends_, log_);
}

}  // namespace krl::libtorch
