#include "training/trainer.hpp"

#include <atomic>
#include <cmath>

#include "training/examples.hpp"

namespace krl::libtorch {
namespace {

std::vector<double> to_doubles(const at::Tensor& x) {
  const auto doubles = x.detach().to(at::kDouble).contiguous();
  const double* data = doubles.const_data_ptr<double>();
  return {data, data + doubles.numel()};
}

// The part of `all` that belongs to one answer; empty if there is none of it.
template <class T>
std::span<T> part(std::vector<T>& all, std::size_t begin, std::size_t size) {
  return all.empty() ? std::span<T>() : std::span<T>(all).subspan(begin, size);
}

std::span<const float> to_span(Span<float> s) { return {s.data(), s.size()}; }

void check_optimizer(const krl_optimizer& o) {
  const auto refuse = [](const char* name, const char* range) {
    invalid_argument("optimizer." + std::string(name) + " must be " + range);
  };
  const auto finite_from_0 = [](double x) { return x >= 0 && std::isfinite(x); };
  if (!finite_from_0(o.lr)) refuse("lr", "a number from 0 on");
  if (!(o.beta1 >= 0 && o.beta1 < 1)) refuse("beta1", "in [0, 1)");
  if (!(o.beta2 >= 0 && o.beta2 < 1)) refuse("beta2", "in [0, 1)");
  if (!(o.epsilon > 0 && std::isfinite(o.epsilon))) refuse("epsilon", "greater than 0");
  if (!finite_from_0(o.weight_decay)) refuse("weight_decay", "a number from 0 on");
  if (!finite_from_0(o.grad_clip)) refuse("grad_clip", "a number from 0 on");
}

}  // namespace

Trainer::Trainer(const ParameterLayout& layout, const std::vector<float>& weights,
                 at::ScalarType type, std::int64_t micro_batch_tokens, WorkerThreads& threads)
    : layout_(layout),
      type_(type),
      micro_batch_tokens_(micro_batch_tokens),
      threads_(threads),
      rotary_(rotary_tensors(layout.config, type)) {
  state_.weights = at::tensor(weights).to(type);
  state_.first_moment = at::zeros_like(state_.weights);
  state_.second_moment = at::zeros_like(state_.weights);
  gradient_ = at::zeros_like(state_.weights);
  step_counts_ = {at::zeros({}, at::kFloat), at::zeros({}, at::kFloat)};
  replicas_.resize(static_cast<std::size_t>(threads.size()));
  for (Replica& replica : replicas_) replica.gradient = at::zeros_like(state_.weights);
  bind_replicas();
}

void Trainer::bind_replicas() {
  for (Replica& replica : replicas_) {
    replica.weights.clear();
    const auto gradients = parameter_views(layout_, replica.gradient);
    for (const at::Tensor& view : parameter_views(layout_, state_.weights)) {
      at::Tensor leaf = view.detach().set_requires_grad(true);
      leaf.mutable_grad() = gradients[replica.weights.size()];
      replica.weights.push_back(leaf);
    }
  }
}

void Trainer::restore(TrainerState state) {
  state_ = std::move(state);
  for (at::Tensor& count : step_counts_) count.fill_(static_cast<double>(state_.steps));
  gradient_.zero_();
  has_gradient_ = false;
  bind_replicas();
}

std::vector<float> Trainer::weights() const {
  const auto floats = state_.weights.to(at::kFloat);
  const float* data = floats.const_data_ptr<float>();
  return {data, data + floats.numel()};
}

void Trainer::run_shares(const Examples& examples, const Context& context,
                         const std::function<void(int, const MicroBatch&)>& work) {
  const auto lengths = example_lengths(examples);
  const auto shares = share_out(lengths, threads_.size(), micro_batch_tokens_);
  threads_.run(
      [&](int worker, const std::atomic<bool>& stop) {
        for (const MicroBatch& batch : shares[static_cast<std::size_t>(worker)]) {
          if (stop) return;
          work(worker, batch);
        }
      },
      [&] { context.throw_if_cancelled(); });
}

void Trainer::logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                       const Context& context) {
  if (!(temperature > 0) || std::isinf(temperature)) {
    invalid_argument("the temperature of logprobs must be greater than 0");
  }
  check_examples(examples, layout_.config, nullptr);
  std::vector<std::vector<float>> results(examples.size());
  run_shares(examples, context, [&](int worker, const MicroBatch& batch) {
    const at::NoGradGuard no_grad;
    const auto& weights = replicas_[static_cast<std::size_t>(worker)].weights;
    const auto predicted =
        forward(layout_, weights, rotary_, pack_examples(examples, batch), temperature);
    const auto all = to_doubles(predicted.logprobs);
    auto at = all.begin();
    for (const std::size_t i : batch) {
      const auto end = at + static_cast<std::ptrdiff_t>(examples[i].tokens().size());
      results[i].assign(at, end);
      at = end;
    }
  });
  for (std::size_t i = 0; i < results.size(); ++i) sink.put(i, results[i]);
}

LossMetrics Trainer::forward_backward(const LossOptions& options, const Examples& examples,
                                      const Context& context) {
  check_examples(examples, layout_.config, &options);
  if (options.kl > 0 && !state_.reference.defined()) state_.reference = state_.weights.clone();
  uses_tis_ = options.tis > 0;
  for (Replica& replica : replicas_) {
    replica.gradient.zero_();
    replica.metrics = {};
  }
  run_shares(examples, context, [&](int worker, const MicroBatch& batch) {
    train_micro_batch(replicas_[static_cast<std::size_t>(worker)], options, examples, batch);
  });
  LossMetrics metrics;
  for (const Replica& replica : replicas_) {
    gradient_.add_(replica.gradient);
    metrics.add(replica.metrics);
  }
  has_gradient_ = true;
  return metrics;
}

void Trainer::train_micro_batch(Replica& replica, const LossOptions& options,
                                const Examples& examples, const MicroBatch& batch) const {
  const PackedBatch packed = pack_examples(examples, batch);
  const Predictions predicted =
      forward(layout_, replica.weights, rotary_, packed, options.temperature);
  const auto frozen = [&](const at::Tensor& weights) {
    const at::NoGradGuard no_grad;
    const auto views = parameter_views(layout_, weights);
    return to_doubles(forward(layout_, views, rotary_, packed, options.temperature).logprobs);
  };
  std::vector<double> now = to_doubles(predicted.logprobs);
  std::vector<double> entropy = to_doubles(predicted.entropy);
  std::vector<double> reference, start;
  if (options.kl > 0) reference = frozen(state_.reference);
  if (options.tis > 0) start = state_.behaviour.defined() ? frozen(state_.behaviour) : now;

  std::vector<double> by_logprob(now.size()), by_entropy(now.size());
  std::size_t begin = 0;
  for (const std::size_t i : batch) {
    const Example example = examples[i];
    const std::size_t n = example.tokens().size();
    const AnswerTokens answer = {part(now, begin, n),         part(entropy, begin, n),
                                 to_span(example.logprobs()), to_span(example.advantages()),
                                 to_span(example.weights()),  part(start, begin, n),
                                 part(reference, begin, n)};
    answer_loss(options, answer, part(by_logprob, begin, n), part(by_entropy, begin, n),
                replica.metrics);
    begin += n;
  }
  torch::autograd::variable_list outputs = {predicted.logprobs},
                                 gradients = {at::tensor(by_logprob).to(type_)};
  if (options.entropy > 0) {
    outputs.push_back(predicted.entropy);
    gradients.push_back(at::tensor(by_entropy).to(type_));
  }
  torch::autograd::backward(outputs, gradients);
}

double Trainer::optimizer_step(const krl_optimizer& optimizer) {
  check_optimizer(optimizer);
  if (!has_gradient_) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "there is no gradient to step with: call forward_backward first");
  }
  const at::NoGradGuard no_grad;
  const double norm = gradient_.to(at::kDouble).norm().item<double>();
  has_gradient_ = false;
  if (!std::isfinite(norm)) {
    gradient_.zero_();
    throw Failure(KRL_FAILED_PRECONDITION,
                  "the gradient is not finite, so the step was dropped and the weights are as "
                  "before; lower the learning rate or check the advantages");
  }
  if (optimizer.grad_clip > 0 && norm > optimizer.grad_clip) {
    gradient_.mul_(optimizer.grad_clip / norm);
  }
  if (uses_tis_ && !state_.behaviour.defined()) state_.behaviour = state_.weights.clone();

  const auto step = [&](std::size_t group, std::int64_t begin, std::int64_t end, double decay) {
    const auto slice = [&](const at::Tensor& flat) { return flat.narrow(0, begin, end - begin); };
    step_counts_[group].add_(1);
    at::_fused_adamw_({slice(state_.weights)}, {slice(gradient_)}, {slice(state_.first_moment)},
                      {slice(state_.second_moment)}, {}, {step_counts_[group]}, optimizer.lr,
                      optimizer.beta1, optimizer.beta2, decay, optimizer.epsilon,
                      /*amsgrad=*/false, /*maximize=*/false);
  };
  step(0, 0, layout_.matrices_end, optimizer.weight_decay);
  step(1, layout_.matrices_end, layout_.total, 0);
  ++state_.steps;
  gradient_.zero_();
  return norm;
}

}  // namespace krl::libtorch
