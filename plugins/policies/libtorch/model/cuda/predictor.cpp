#include "plugins/policies/libtorch/model/cuda/predictor.hpp"

#include "plugins/policies/libtorch/cuda/tensor_pointer.hpp"
#include "plugins/policies/libtorch/model/cuda/kernel_source.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

template <class T>
const T* numbers(const at::Tensor& x) {
  return x.defined() ? x.const_data_ptr<T>() : nullptr;
}

policies::TokenArrays token_arrays(const LossInputs& inputs, const at::Tensor& values) {
  return {numbers<double>(inputs.factors),
          numbers<double>(inputs.shares),
          numbers<float>(inputs.sampled),
          numbers<float>(inputs.advantages),
          numbers<float>(inputs.start),
          numbers<float>(inputs.reference),
          numbers<double>(inputs.sequence_log_ratios),
          numbers<float>(values),
          numbers<float>(inputs.old_values),
          numbers<float>(inputs.returns)};
}

// Sums the critic's gradients, and adds the gradient through its values to that of the hidden
// states.
void critic_backward(const DecoderParameters& parameters, const at::Tensor& hidden,
                     const at::Tensor& by_values, const at::Tensor& by_hidden) {
  const Parameter &weight = parameters.critic_weight, &bias = parameters.critic_bias;
  const at::Tensor by = by_values.unsqueeze(1);
  accumulate_product(weight.gradient, by, hidden.to(by.scalar_type()));
  bias.gradient.add_(by_values.sum());
  if (parameters.critic_detached) return;
  by_hidden.addmm_(by.to(hidden.scalar_type()), weight.value.to(hidden.scalar_type()));
}

}  // namespace

Predictions CudaPredictor::predict(const at::Tensor& hidden, const Parameter& head,
                                   const at::Tensor& targets, double temperature) const {
  const at::NoGradGuard no_grad;
  const at::Tensor logprobs = at::empty({hidden.size(0)}, hidden.options().dtype(at::kFloat));
  const Softmax all{logprobs, at::empty_like(logprobs), at::empty_like(logprobs)};
  for_chunks(hidden.size(0), [&](const auto& part) {
    softmax_sums(at::mm(part(hidden), head.value.t()), part(targets), temperature,
                 {part(all.logprobs), part(all.entropies), part(all.normalisers)});
  });
  return {all.logprobs, all.entropies};
}

void CudaPredictor::softmax_sums(const at::Tensor& logits, const at::Tensor& targets,
                                 double temperature, const Softmax& out) const {
  softmax_sums_({logits.size(0)}, kSoftmaxThreads, pointer(logits), pointer(targets),
                static_cast<float>(1 / temperature), pointer(out.logprobs), pointer(out.entropies),
                pointer(out.normalisers));
}

// Each chunk of logits goes all the way, from the matrix product over the loss to its gradients, so
// that neither is it kept nor computed twice.
void CudaPredictor::learn(const at::Tensor& hidden, const DecoderParameters& parameters,
                          const at::Tensor& targets, double temperature,
                          const TokenLossOptions& loss, const LossInputs& inputs,
                          const at::Tensor& metrics) const {
  const std::int64_t rows = hidden.size(0);
  const at::Tensor x = hidden.detach(), by_hidden = at::empty_like(x);
  const Parameter& head = parameters.head;
  const at::Tensor values = parameters.has_critic() ? critic_values(parameters, x) : at::Tensor();
  const at::Tensor by_values = parameters.has_critic() ? at::empty_like(values) : at::Tensor();
  const policies::TokenArrays arrays = token_arrays(inputs, values);
  {
    const at::NoGradGuard no_grad;
    std::int64_t first = 0;
    for_chunks(rows, [&](const auto& part) {
      const at::Tensor chunk = part(x), logits = at::mm(chunk, head.value.t());
      const std::int64_t count = chunk.size(0);
      // Three rows for the predictions, and two for the derivatives.
      const at::Tensor numbers = at::empty({5, count}, x.options().dtype(at::kFloat));
      const Softmax softmax{numbers[0], numbers[1], numbers[2]};
      softmax_sums(logits, part(targets), temperature, softmax);
      token_losses_({}, kLossThreads, loss, arrays, first, static_cast<int>(count),
                    pointer(softmax.logprobs), pointer(softmax.entropies), pointer(numbers[3]),
                    pointer(numbers[4]), pointer(by_values), pointer(metrics));
      softmax_backward_({count}, kSoftmaxThreads, pointer(logits), pointer(part(targets)),
                        static_cast<float>(1 / temperature), pointer(softmax.normalisers),
                        pointer(softmax.entropies), pointer(numbers[3]), pointer(numbers[4]));
      at::Tensor by_chunk = part(by_hidden);
      at::mm_out(by_chunk, logits, head.value);
      if (head.learns()) accumulate_product(head.gradient, logits, chunk);
      first += count;
    });
    if (parameters.has_critic()) critic_backward(parameters, x, by_values, by_hidden);
  }
  torch::autograd::backward({hidden}, {by_hidden});
}

}  // namespace krl::libtorch
