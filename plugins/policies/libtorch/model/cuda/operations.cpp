#include "plugins/policies/libtorch/model/cuda/operations.hpp"

#include <cuda_runtime_api.h>

#include <cmath>
#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/cuda/kernel_library.hpp"
#include "plugins/policies/libtorch/cuda/tensor_pointer.hpp"
#include "plugins/policies/libtorch/model/autograd.hpp"
#include "plugins/policies/libtorch/model/cuda/attention.hpp"
#include "plugins/policies/libtorch/model/cuda/kernel_source.hpp"
#include "plugins/policies/libtorch/model/cuda/predictor.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

constexpr int kBlocksPerMultiprocessor = 4;  // used if blocks go through separate rows
std::int64_t blocks_for(std::int64_t work, std::int64_t per_block) {
  return (work + per_block - 1) / per_block;
}

int current_device() {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  std::string("there is no GPU to train on: ") + cudaGetErrorString(error));
  }
  return device;
}

int element_bytes_of(at::ScalarType compute) {
  if (compute == at::kBFloat16) return 2;
  if (compute == at::kFloat) return 4;
  throw Failure(KRL_INVALID_ARGUMENT, "a GPU trains in bfloat16 or float32");
}

class CudaOperations final : public Operations {
 public:
  CudaOperations(const ModelConfig& config, at::ScalarType compute)
      : Operations(config),
        device_(at::kCUDA, static_cast<at::DeviceIndex>(current_device())),
        shape_(training_shape(config, element_bytes_of(compute))),
        library_("training", training_kernels(),
                 training_defines(config, element_bytes_of(compute))),
        add_and_norm_(library_.kernel("add_and_norm")),
        add_and_norm_backward_(library_.kernel("add_and_norm_backward")),
        add_columns_(library_.kernel("add_columns")),
        prepare_heads_(library_.kernel("prepare_heads")),
        prepare_heads_backward_(library_.kernel("prepare_heads_backward")),
        gate_(library_.kernel("gate")),
        gate_backward_(library_.kernel("gate_backward")),
        embedding_backward_(library_.kernel("embedding_backward")),
        adamw_step_(library_.kernel("adamw_step")),
        predictor_(library_, config.vocabulary * element_bytes_of(compute)) {
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device_.index());
    most_blocks_ = kBlocksPerMultiprocessor * multiprocessors;
  }

  at::Device device() const override { return device_; }
  at::ScalarType angle_type(at::ScalarType) const override { return at::kFloat; }
  bool parameters_are_leaves() const override { return false; }

  at::Tensor embed(const Parameter& embedding, const at::Tensor& tokens) const override;
  at::Tensor rms_norm(const at::Tensor& x, const Parameter& gain) const override;
  at::Tensor project(const at::Tensor& x, const Projection& projection) const override {
    return libtorch::project(x, projection);
  }
  at::Tensor attention(const at::Tensor& qkv, const Block& block, const Angles& angles,
                       const PackedBatch& batch) const override;
  Stream add_projection(const at::Tensor& stream, const at::Tensor& x, const Projection& projection,
                        const Parameter& gain) const override;
  Stream add_feed_forward(const at::Tensor& stream, const at::Tensor& gate_up,
                          const Projection& down, const Parameter& gain) const override;
  Predictions predict(const at::Tensor& hidden, const Parameter& head, const at::Tensor& targets,
                      double temperature) const override {
    return predictor_.predict(hidden, head, targets, temperature);
  }
  void learn(const at::Tensor& hidden, const DecoderParameters& parameters,
             const at::Tensor& targets, double temperature, const TokenLossOptions& loss,
             const LossInputs& inputs, const at::Tensor& metrics) const override {
    predictor_.learn(hidden, parameters, targets, temperature, loss, inputs, metrics);
  }
  void adamw_step(const AdamWStep& step) const override;

 private:
  // The norm's results and the values it keeps; `sum` is x itself if there is no delta.
  struct Norm {
    at::Tensor sum, normed, scales;
  };
  Norm add_and_norm(const at::Tensor& x, const at::Tensor& delta, const Parameter& gain) const;
  // The gradient of x and of delta. `by_sum` may be undefined.
  at::Tensor add_and_norm_backward(const at::Tensor& sum, const at::Tensor& scales,
                                   const Parameter& gain, const at::Tensor& by_normed,
                                   const at::Tensor& by_sum) const;
  // Adds Σ over rows of parts [rows, stride], from `first` on, to the gradient of a vector.
  void add_columns(const at::Tensor& parts, std::int64_t first, const Parameter& vector) const;

  at::Tensor prepare_heads(const at::Tensor& qkv, const Block& block, const Angles& angles) const;
  // Maps the gradients of the prepared heads to that of qkv, the former value of `qkv`.
  at::Tensor prepare_heads_backward(const AttentionGradients& by, const at::Tensor& qkv,
                                    const Block& block, const Angles& angles) const;

  at::Tensor gate(const at::Tensor& gate_up) const;

  at::Device device_;
  TrainingShape shape_;
  KernelLibrary library_;
  Kernel add_and_norm_, add_and_norm_backward_, add_columns_, prepare_heads_,
      prepare_heads_backward_, gate_, gate_backward_, embedding_backward_, adamw_step_;
  CudaPredictor predictor_;
  std::int64_t most_blocks_ = 0;
};

at::Tensor CudaOperations::embed(const Parameter& embedding, const at::Tensor& tokens) const {
  at::Tensor x;
  {
    const at::NoGradGuard no_grad;
    x = at::embedding(embedding.value, tokens);
    if (config().embedding_scale != 1) x.mul_(config().embedding_scale);
  }
  if (!embedding.learns() || !at::GradMode::is_enabled()) return x;
  // The tokens have no gradient: something must, for backward to come this far.
  const at::Tensor anchor = at::zeros({}, x.options()).set_requires_grad(true);
  record({anchor}, {x}, [this, embedding, tokens](const std::vector<at::Tensor>& grads) {
    const at::Tensor by_x = grads[0].contiguous();
    const auto [sorted, rows] = at::sort(tokens, /*stable=*/std::optional<bool>(true), 0);
    const std::int64_t count = tokens.size(0);
    embedding_backward_({count}, kEmbeddingThreads, pointer(by_x), pointer(sorted), pointer(rows),
                        static_cast<int>(count), static_cast<float>(config().embedding_scale),
                        pointer(embedding.gradient));
    return std::vector<at::Tensor>{at::Tensor()};
  });
  return x;
}

CudaOperations::Norm CudaOperations::add_and_norm(const at::Tensor& x, const at::Tensor& delta,
                                                  const Parameter& gain) const {
  const std::int64_t rows = x.size(0);
  Norm norm{delta.defined() ? at::empty_like(x) : x, at::empty_like(x),
            at::empty({rows}, x.options().dtype(at::kFloat))};
  if (rows == 0) return norm;
  add_and_norm_({blocks_for(rows, shape_.rows_per_block)}, kNormThreads, pointer(x), pointer(delta),
                pointer(gain.value), static_cast<float>(config().norm_epsilon),
                static_cast<int>(rows), pointer(norm.sum), pointer(norm.normed),
                pointer(norm.scales));
  return norm;
}

at::Tensor CudaOperations::add_and_norm_backward(const at::Tensor& sum, const at::Tensor& scales,
                                                 const Parameter& gain, const at::Tensor& by_normed,
                                                 const at::Tensor& by_sum) const {
  const std::int64_t rows = sum.size(0);
  const at::Tensor by_x = at::empty_like(sum);
  const std::int64_t blocks = std::min(most_blocks_, blocks_for(rows, shape_.rows_per_block));
  const at::Tensor parts = at::empty({blocks, config().hidden}, scales.options());
  const at::Tensor direct = by_sum.defined() ? by_sum.contiguous() : at::Tensor();
  add_and_norm_backward_({blocks}, kNormThreads, pointer(sum), pointer(scales), pointer(gain.value),
                         pointer(by_normed.contiguous()), pointer(direct), static_cast<int>(rows),
                         pointer(by_x), pointer(parts));
  add_columns(parts, 0, gain);
  return by_x;
}

void CudaOperations::add_columns(const at::Tensor& parts, std::int64_t first,
                                 const Parameter& vector) const {
  if (!vector.learns()) return;
  const std::int64_t width = vector.gradient.size(0), stride = parts.size(1);
  add_columns_({blocks_for(width, 32)}, kColumnThreads, parts.const_data_ptr<float>() + first,
               static_cast<int>(parts.size(0)), static_cast<int>(stride), static_cast<int>(width),
               pointer(vector.gradient));
}

at::Tensor CudaOperations::rms_norm(const at::Tensor& x, const Parameter& gain) const {
  Norm norm;
  {
    const at::NoGradGuard no_grad;
    norm = add_and_norm(x, {}, gain);
  }
  record(
      {x}, {norm.normed},
      [this, sum = x.detach(), scales = norm.scales, gain](const std::vector<at::Tensor>& grads) {
        return std::vector<at::Tensor>{add_and_norm_backward(sum, scales, gain, grads[0], {})};
      });
  return norm.normed;
}

Stream CudaOperations::add_projection(const at::Tensor& stream, const at::Tensor& x,
                                      const Projection& projection, const Parameter& gain) const {
  AdapterTrace trace;
  Norm norm;
  {
    const at::NoGradGuard no_grad;
    norm = add_and_norm(stream, project_forward(projection, x, trace), gain);
  }
  record({stream, x}, {norm.sum, norm.normed},
         [this, x = x.detach(), projection, trace, sum = norm.sum.detach(), scales = norm.scales,
          gain](const std::vector<at::Tensor>& grads) mutable {
           const at::Tensor by = add_and_norm_backward(sum, scales, gain, grads[1], grads[0]);
           const at::Tensor by_input = project_backward_input(projection, by, trace);
           project_backward_weights(projection, by, x, trace);
           return std::vector<at::Tensor>{by, by_input};
         });
  return {norm.sum, norm.normed};
}

at::Tensor CudaOperations::gate(const at::Tensor& gate_up) const {
  const at::Tensor out = at::empty({gate_up.size(0), config().ffn}, gate_up.options());
  const std::int64_t count = out.numel() / shape_.vector;
  gate_({blocks_for(count, kTrainingGateThreads)}, kTrainingGateThreads, pointer(gate_up), count,
        pointer(out));
  return out;
}

Stream CudaOperations::add_feed_forward(const at::Tensor& stream, const at::Tensor& gate_up,
                                        const Projection& down, const Parameter& gain) const {
  AdapterTrace trace;
  Norm norm;
  {
    const at::NoGradGuard no_grad;
    norm = add_and_norm(stream, project_forward(down, gate(gate_up), trace), gain);
  }
  record({stream, gate_up}, {norm.sum, norm.normed},
         [this, gate_up = gate_up.detach(), down, trace, sum = norm.sum.detach(),
          scales = norm.scales, gain](const std::vector<at::Tensor>& grads) mutable {
           const at::Tensor by = add_and_norm_backward(sum, scales, gain, grads[1], grads[0]);
           const at::Tensor by_gated = project_backward_input(down, by, trace);
           const at::Tensor by_gate_up = at::empty_like(gate_up), gated = at::empty_like(by_gated);
           const std::int64_t count = gated.numel() / shape_.vector;
           gate_backward_({blocks_for(count, kTrainingGateThreads)}, kTrainingGateThreads,
                          pointer(gate_up), pointer(by_gated), count, pointer(by_gate_up),
                          pointer(gated));
           project_backward_weights(down, by, gated, trace);
           return std::vector<at::Tensor>{by, by_gate_up};
         });
  return {norm.sum, norm.normed};
}

at::Tensor CudaOperations::prepare_heads(const at::Tensor& qkv, const Block& block,
                                         const Angles& angles) const {
  const at::Tensor out = at::empty_like(qkv);
  const std::int64_t rows = qkv.size(0), heads = config().heads + 2 * config().kv_heads;
  prepare_heads_({blocks_for(rows * heads, shape_.groups_per_block)}, kHeadThreads, pointer(qkv),
                 pointer(block.qkv_bias.value), pointer(block.query_norm.value),
                 pointer(block.key_norm.value), static_cast<float>(config().norm_epsilon),
                 pointer(angles.cosine), pointer(angles.sine), static_cast<int>(rows),
                 pointer(out));
  return out;
}

at::Tensor CudaOperations::prepare_heads_backward(const AttentionGradients& by,
                                                  const at::Tensor& qkv, const Block& block,
                                                  const Angles& angles) const {
  const at::Tensor by_qkv = at::empty_like(qkv);
  const std::int64_t rows = qkv.size(0), heads = config().heads + 2 * config().kv_heads;
  std::int64_t blocks = blocks_for(rows * heads, shape_.groups_per_block);
  at::Tensor parts;
  if (config().qk_norm()) {
    blocks = std::min(blocks, most_blocks_);
    parts = at::empty({blocks, 2 * config().head_size()}, angles.cosine.options());
  }
  prepare_heads_backward_({blocks}, kHeadThreads, pointer(by.queries), pointer(by.keys),
                          pointer(by.values), pointer(qkv), pointer(block.query_norm.value),
                          pointer(block.key_norm.value), static_cast<float>(config().norm_epsilon),
                          pointer(angles.cosine), pointer(angles.sine), static_cast<int>(rows),
                          pointer(by_qkv), pointer(parts));
  if (config().qk_norm()) {
    add_columns(parts, 0, block.query_norm);
    add_columns(parts, config().head_size(), block.key_norm);
  }
  if (block.qkv_bias.learns()) block.qkv_bias.gradient.add_(by_qkv.sum(0, false, at::kFloat));
  return by_qkv;
}

at::Tensor CudaOperations::attention(const at::Tensor& qkv, const Block& block,
                                     const Angles& angles, const PackedBatch& batch) const {
  at::Tensor prepared, out;
  AttentionTrace trace;
  {
    const at::NoGradGuard no_grad;
    prepared = prepare_heads(qkv, block, angles);
    out = attend(prepared, config(), batch, trace);
  }
  // Norms of heads need their inputs in backward: then these are kept, and the prepared heads are
  // made again.
  const at::Tensor kept = config().qk_norm() ? qkv.detach() : prepared;
  record({qkv}, {out},
         [this, kept, block, angles, batch, out = out.detach(),
          trace](const std::vector<at::Tensor>& grads) {
           const at::Tensor heads = config().qk_norm() ? prepare_heads(kept, block, angles) : kept;
           const AttentionGradients by =
               attend_backward(grads[0].contiguous(), heads, out, config(), batch, trace);
           return std::vector<at::Tensor>{prepare_heads_backward(by, kept, block, angles)};
         });
  return out;
}

void CudaOperations::adamw_step(const AdamWStep& step) const {
  const auto t = static_cast<double>(step.step);
  const double first_correction = 1 - std::pow(step.beta1, t);
  const double second_correction = 1 - std::pow(step.beta2, t);
  const auto narrow = [](double x) { return static_cast<float>(x); };
  const AdamWNumbers numbers = {.lr = narrow(step.lr),
                                .beta1 = narrow(step.beta1),
                                .beta2 = narrow(step.beta2),
                                .epsilon = narrow(step.epsilon),
                                .weight_decay = narrow(step.weight_decay),
                                .gradient_scale = narrow(step.gradient_scale),
                                .step_size = narrow(step.lr / first_correction),
                                .second_scale = narrow(1 / std::sqrt(second_correction))};
  const std::int64_t count = step.weights.numel();
  adamw_step_({blocks_for(count, kAdamWThreads)}, kAdamWThreads, pointer(step.weights),
              pointer(step.gradient), pointer(step.first_moment), pointer(step.second_moment),
              count, numbers);
}

}  // namespace

std::unique_ptr<const Operations> make_cuda_operations(const ModelConfig& config,
                                                       at::ScalarType compute) {
  check_trainable_on_cuda(config, element_bytes_of(compute));
  return std::make_unique<CudaOperations>(config, compute);
}

}  // namespace krl::libtorch
