// The operations on the CPU, in float32 and float64: those of the block have derivatives of their
// own, where a chain of torch operations would pass over memory many times. Autograd sums the
// gradients of the parameters.
#include "plugins/policies/libtorch/model/operations.hpp"

#include <cmath>
#include <cstring>

#include "plugins/policies/libtorch/model/cpu/attention.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {

using namespace policies;  // losses

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;
using torch::autograd::Variable;

// Σ term(i) for i in 0..n, in eight sums side by side, which the compiler can keep in one register.
template <class T, class Term>
T sum_of(std::int64_t n, Term term) {
  constexpr std::int64_t kLanes = 8;
  T lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  T total = 0;
  for (; i < n; ++i) total += term(i);
  for (const T lane : lanes) total += lane;
  return total;
}

// One row of RmsNorm; returns its scale, 1 / √(mean(x²) + epsilon).
template <class T>
T rms_norm_row(const T* x, const T* gain, std::int64_t width, double epsilon, T* out) {
  const T squares = sum_of<T>(width, [&](std::int64_t i) { return x[i] * x[i]; });
  const T scale = 1 / std::sqrt(squares / static_cast<T>(width) + static_cast<T>(epsilon));
  for (std::int64_t i = 0; i < width; ++i) out[i] = x[i] * scale * gain[i];
  return scale;
}

// Computes, with n = x · scale: dx = scale · (dn - n · mean(dn · n)), where dn = dy · gain; dgain
// += dy · n.
template <class T>
void rms_norm_row_backward(const T* x, const T* gain, const T* dy, T scale, std::int64_t width,
                           T* dx, T* dgain) {
  const T dot = sum_of<T>(width, [&](std::int64_t i) { return dy[i] * gain[i] * x[i]; });
  const T mean = dot * scale * scale / static_cast<T>(width);
  for (std::int64_t i = 0; i < width; ++i) {
    dx[i] = scale * (dy[i] * gain[i] - x[i] * mean);
    dgain[i] += dy[i] * x[i] * scale;
  }
}

class RmsNorm : public Function<RmsNorm> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& gain,
                          double epsilon) {
    const auto out = at::empty_like(x), scales = at::empty({x.size(0)}, x.options());
    const std::int64_t rows = x.size(0), width = x.size(1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
      const auto* from = x.const_data_ptr<scalar_t>();
      const auto* g = gain.const_data_ptr<scalar_t>();
      auto* to = out.mutable_data_ptr<scalar_t>();
      auto* scale = scales.mutable_data_ptr<scalar_t>();
      for (std::int64_t row = 0; row < rows; ++row) {
        scale[row] = rms_norm_row(from + row * width, g, width, epsilon, to + row * width);
      }
    });
    context->save_for_backward({x, gain, scales});
    return out;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &gain = saved[1], &scales = saved[2];
    const auto grad = grads[0].contiguous();
    const auto by_x = at::empty_like(x), by_gain = at::zeros_like(gain);
    const std::int64_t rows = x.size(0), width = x.size(1);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_backward", [&] {
      const auto* from = x.const_data_ptr<scalar_t>();
      const auto* dy = grad.const_data_ptr<scalar_t>();
      const auto* g = gain.const_data_ptr<scalar_t>();
      const auto* scale = scales.const_data_ptr<scalar_t>();
      auto* dx = by_x.mutable_data_ptr<scalar_t>();
      auto* dgain = by_gain.mutable_data_ptr<scalar_t>();
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t at = row * width;
        rms_norm_row_backward(from + at, g, dy + at, scale[row], width, dx + at, dgain);
      }
    });
    return {by_x, by_gain, Variable()};
  }
};

class SwiGlu : public Function<SwiGlu> {
 public:
  static Variable forward(AutogradContext* context, const Variable& gate_up) {
    const auto parts = gate_up.chunk(2, 1);
    context->save_for_backward({gate_up});
    return at::silu(parts[0]).mul_(parts[1]);
  }
  static tensor_list backward(AutogradContext* context, const tensor_list& grads) {
    const auto gate_up = context->get_saved_variables()[0];
    const auto parts = gate_up.chunk(2, 1);
    auto result = at::empty_like(gate_up);
    auto by_parts = result.chunk(2, 1);
    at::mul_out(by_parts[1], at::silu(parts[0]), grads[0]);
    at::silu_backward_out(by_parts[0], grads[0] * parts[1], parts[0]);
    return {result};
  }
};

class Predict : public Function<Predict> {
 public:
  static tensor_list forward(AutogradContext* context, const Variable& hidden,
                             const Variable& weights, const at::Tensor& targets,
                             double temperature) {
    auto logits = at::mm(hidden, weights.t());
    if (temperature != 1) logits.div_(temperature);
    const auto all = at::log_softmax(logits, 1);
    const auto chosen = all.gather(1, targets.unsqueeze(1)).squeeze(1);
    const auto entropy = at::exp_out(logits, all).mul_(all).sum(1).neg_();
    context->save_for_backward({hidden, weights, targets, all, entropy});
    context->saved_data["temperature"] = temperature;
    context->set_materialize_grads(false);  // the entropy is rarely part of the loss
    return {chosen, entropy};
  }

  // The derivative by logit j is (g · (1[j = target] - p_j) - e · p_j · (ln p_j + H)) /
  // temperature, for the derivatives g by the log-probability and e by the entropy H.
  static tensor_list backward(AutogradContext* context, const tensor_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto &hidden = saved[0], &weights = saved[1], &targets = saved[2], &all = saved[3];
    const double temperature = context->saved_data["temperature"].toDouble();
    auto by_logits = all.exp();
    const auto by_chosen = grads[0].unsqueeze(1);
    if (grads[1].defined()) {
      const auto shift = all + saved[4].unsqueeze(1);
      by_logits.mul_(shift.mul_(grads[1].unsqueeze(1)).add_(by_chosen).neg_());
    } else {
      by_logits.mul_(by_chosen.neg());
    }
    by_logits.scatter_add_(1, targets.unsqueeze(1), by_chosen);
    if (temperature != 1) by_logits.div_(temperature);
    const auto by_weights =
        context->needs_input_grad(1) ? at::mm(by_logits.t(), hidden) : Variable();
    return {at::mm(by_logits, weights), by_weights, Variable(), Variable()};
  }
};

// Each head of the queries and of the keys normalised by itself; the values as they are.
at::Tensor normed_heads(const at::Tensor& qkv, const Block& block, const ModelConfig& config) {
  const auto parts =
      qkv.split_with_sizes({config.attention_width(), config.kv_width(), config.kv_width()}, 1);
  const auto norm = [&](const at::Tensor& heads, const Parameter& gain) {
    return RmsNorm::apply(heads.reshape({-1, config.head_size()}), gain.value, config.norm_epsilon)
        .view(heads.sizes());
  };
  return at::cat({norm(parts[0], block.query_norm), norm(parts[1], block.key_norm), parts[2]}, 1);
}

// The derivatives of the loss by the predictions and by the critic's values, of their type.
struct Derivatives {
  at::Tensor logprobs, entropy, values;
};

at::Tensor doubles(const at::Tensor& x) { return x.defined() ? x.to(at::kDouble).contiguous() : x; }

// The inputs of the loss in float64, undefined where they are absent.
struct TokenStates {
  at::Tensor now, entropy, sampled, advantages, start, reference, values, old_values, returns,
      sequence_log_ratios, factors, shares;

  TokenState operator[](std::int64_t i) const {
    const auto read = [i](const at::Tensor& x) {
      return x.defined() ? x.const_data_ptr<double>()[i] : 0.0;
    };
    const double q = read(sampled), target = read(returns);
    return {.now = read(now),
            .entropy = read(entropy),
            .sampled = q,
            .is_sampled = !std::isnan(q),
            .start = read(start),
            .reference = read(reference),
            .advantage = read(advantages),
            .sequence_log_ratio = read(sequence_log_ratios),
            .value = read(values),
            .old_value = read(old_values),
            .target = target,
            .has_return = values.defined() && !std::isnan(target),
            .factor = read(factors),
            .share = read(shares)};
  }
};

// `values` is undefined without a critic.
Derivatives derivatives(const Predictions& predicted, const at::Tensor& values,
                        const TokenLossOptions& loss, const LossInputs& inputs,
                        const at::Tensor& metrics) {
  const auto now = doubles(predicted.logprobs);
  const TokenStates tokens{now,
                           doubles(predicted.entropy),
                           doubles(inputs.sampled),
                           doubles(inputs.advantages),
                           inputs.start.defined() ? doubles(inputs.start) : now,
                           doubles(inputs.reference),
                           doubles(values),
                           doubles(inputs.old_values),
                           doubles(inputs.returns),
                           inputs.sequence_log_ratios,
                           inputs.factors,
                           inputs.shares};
  const auto by_logprob = at::empty_like(now), by_entropy = at::empty_like(now),
             by_value = at::empty_like(now);
  LossMetrics sums;
  std::memcpy(&sums, metrics.const_data_ptr(), sizeof sums);
  for (std::int64_t i = 0; i < now.numel(); ++i) {
    const TokenDerivatives by = token_loss(loss, tokens[i], sums);
    by_logprob.mutable_data_ptr<double>()[i] = by.by_logprob;
    by_entropy.mutable_data_ptr<double>()[i] = by.by_entropy;
    by_value.mutable_data_ptr<double>()[i] = by.by_value;
  }
  std::memcpy(metrics.mutable_data_ptr(), &sums, sizeof sums);
  const auto type = predicted.logprobs.scalar_type();
  return {by_logprob.to(type), by_entropy.to(type), by_value.to(type)};
}

class CpuOperations final : public Operations {
 public:
  using Operations::Operations;

  at::Device device() const override { return at::kCPU; }
  at::ScalarType angle_type(at::ScalarType compute) const override { return compute; }
  bool parameters_are_leaves() const override { return true; }

  at::Tensor embed(const Parameter& embedding, const at::Tensor& tokens) const override {
    return at::embedding(embedding.value, tokens) * config().embedding_scale;
  }

  at::Tensor rms_norm(const at::Tensor& x, const Parameter& gain) const override {
    return RmsNorm::apply(x, gain.value, config().norm_epsilon);
  }

  at::Tensor project(const at::Tensor& x, const Projection& projection) const override {
    if (!projection.adapters.empty()) return libtorch::project(x, projection);
    return at::linear(x, projection.weight.value);
  }

  at::Tensor attention(const at::Tensor& qkv, const Block& block, const Angles& angles,
                       const PackedBatch& batch) const override {
    at::Tensor x = qkv;
    if (config().qkv_bias()) x = x + block.qkv_bias.value;
    if (config().qk_norm()) x = normed_heads(x, block, config());
    return rotary_attention(x, angles, batch.starts, config());
  }

  Stream add_projection(const at::Tensor& stream, const at::Tensor& x, const Projection& projection,
                        const Parameter& gain) const override {
    const at::Tensor sum = projection.adapters.empty()
                               ? at::addmm(stream, x, projection.weight.value.t())
                               : stream + libtorch::project(x, projection);
    return {sum, rms_norm(sum, gain)};
  }

  Stream add_feed_forward(const at::Tensor& stream, const at::Tensor& gate_up,
                          const Projection& down, const Parameter& gain) const override {
    return add_projection(stream, SwiGlu::apply(gate_up), down, gain);
  }

  Predictions predict(const at::Tensor& hidden, const Parameter& head, const at::Tensor& targets,
                      double temperature) const override {
    const at::NoGradGuard no_grad;
    const auto both = Predict::apply(hidden, head.value, targets, temperature);
    return {both[0], both[1]};
  }

  void learn(const at::Tensor& hidden, const DecoderParameters& parameters,
             const at::Tensor& targets, double temperature, const TokenLossOptions& loss,
             const LossInputs& inputs, const at::Tensor& metrics) const override {
    const auto both = Predict::apply(hidden, parameters.head.value, targets, temperature);
    at::Tensor values;
    if (parameters.has_critic()) {
      const at::Tensor state = parameters.critic_detached ? hidden.detach() : hidden;
      values = at::linear(state, parameters.critic_weight.value, parameters.critic_bias.value)
                   .squeeze(1);
    }
    const Predictions predicted = {both[0].detach(), both[1].detach()};
    const Derivatives by =
        derivatives(predicted, values.defined() ? values.detach() : values, loss, inputs, metrics);
    tensor_list outputs = {both[0]}, gradients = {by.logprobs};
    if (loss.entropy > 0) {
      outputs.push_back(both[1]);
      gradients.push_back(by.entropy);
    }
    if (values.defined()) {
      outputs.push_back(values);
      gradients.push_back(by.values);
    }
    torch::autograd::backward(outputs, gradients);
  }

  void adamw_step(const AdamWStep& step) const override {
    if (step.gradient_scale != 1) step.gradient.mul_(step.gradient_scale);
    at::_fused_adamw_({step.weights}, {step.gradient}, {step.first_moment}, {step.second_moment},
                      {}, {at::full({}, step.step, at::kFloat)}, step.lr, step.beta1, step.beta2,
                      step.weight_decay, step.epsilon, /*amsgrad=*/false, /*maximize=*/false);
    step.gradient.zero_();
  }
};

}  // namespace

std::unique_ptr<Operations> make_cpu_operations(const ModelConfig& config) {
  return std::make_unique<CpuOperations>(config);
}

}  // namespace krl::libtorch
