#include "plugins/policies/libtorch/training/trainer.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/examples.hpp"
#include "plugins/policies/libtorch/training/loss_inputs.hpp"
#include "plugins/policies/libtorch/training/transfer.hpp"

namespace krl::libtorch {

using namespace policies;  // losses

namespace {

LossMetrics to_metrics(const at::Tensor& sums) {
  LossMetrics metrics;
  std::memcpy(&metrics, sums.cpu().const_data_ptr(), sizeof metrics);
  return metrics;
}

// Returns the groups that a slice has numbers of.
std::vector<ParameterGroup> groups_of(const LearnedModel& model,
                                      const std::optional<CriticOptions>& critic, Slice slice) {
  std::vector<ParameterGroup> groups;
  std::int64_t begin = 0;
  const auto add = [&](std::int64_t end, bool decays, std::optional<double> lr) {
    const std::int64_t size = std::min(end, slice.end) - std::max(begin, slice.begin);
    if (size > 0) groups.push_back({size, decays, lr});
    begin = end;
  };
  add(model.matrices_end(), true, std::nullopt);
  add(model.policy_total(), false, std::nullopt);
  if (critic) add(model.total(), false, critic->lr);
  return groups;
}

}  // namespace

Trainer::Trainer(const ParameterLayout& layout, const StoredWeights& weights,
                 std::unique_ptr<const Operations> operations, const TrainerOptions& options,
                 WorkerThreads& threads)
    : operations_(std::move(operations)),
      options_(options),
      model_(layout, weights, options.lora, options.critic, *operations_, options.compute),
      threads_(threads),
      angles_(angle_table(*operations_, options.compute)),
      slice_(options.exchange != nullptr ? options.exchange->slice(model_.total())
                                         : Slice{0, model_.total()}),
      optimizer_(*operations_, groups_of(model_, options.critic, slice_)) {
  state_.weights = model_.start(weights);
  state_.first_moment = at::zeros_like(own(state_.weights));
  state_.second_moment = at::zeros_like(own(state_.weights));
  gradient_ = at::zeros_like(state_.weights);
  weights_changed();
  replicas_.resize(on_cpu() ? static_cast<std::size_t>(threads.size()) : 1);
  for (Replica& replica : replicas_) {
    replica.gradient = on_cpu() ? at::zeros_like(gradient_) : gradient_;
    replica.parameters = model_.bind(model_.working(), replica.gradient);
    replica.metrics = at::zeros({kLossMetrics}, gradient_.options().dtype(at::kDouble));
  }
}

void Trainer::restore(TrainerState state) {
  // Copies in place: generators hold the address of the weights.
  state_.weights.copy_(state.weights);
  state_.first_moment.copy_(own(state.first_moment));
  state_.second_moment.copy_(own(state.second_moment));
  const auto taken = [&](const at::Tensor& x) {
    return x.defined() ? x.to(operations_->device()) : x;
  };
  state_.reference = taken(state.reference);
  state_.behaviour = taken(state.behaviour);
  state_.steps = state.steps;
  optimizer_.restore(state_.steps);
  drop_gradient();
  weights_changed();
}

void Trainer::weights_changed() {
  model_.update(state_.weights);
  ++version_;
}

void Trainer::drop_gradient() {
  gradient_.zero_();
  has_gradient_ = lacks_a_part_ = false;
  calls_ = 0;
}

TrainerState Trainer::whole_state() const {
  if (has_gradient_) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "cannot save between forward_backward and optimizer_step: the gradient would be "
                  "lost");
  }
  TrainerState whole = state_;
  if (options_.exchange == nullptr) return whole;
  whole.first_moment = options_.exchange->gather_on_first(state_.first_moment, model_.total());
  whole.second_moment = options_.exchange->gather_on_first(state_.second_moment, model_.total());
  return whole;
}

std::vector<float> Trainer::weights() const {
  const auto floats = merged().to(at::kFloat);
  const float* data = floats.const_data_ptr<float>();
  return {data, data + floats.numel()};
}

void Trainer::run_shares(const Examples& examples, const Context& context,
                         const std::function<void(int, const MicroBatch&)>& work) {
  const auto lengths = example_lengths(examples);
  const auto workers = static_cast<int>(replicas_.size());
  const auto shares = share_out(lengths, workers, options_.micro_batch_tokens);
  if (!on_cpu()) {
    for (const MicroBatch& batch : shares[0]) {
      context.throw_if_cancelled();
      work(0, batch);
    }
    return;
  }
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
  const auto all = for_answer_tokens(
      examples, context, [&](const DecoderParameters& parameters, const PackedBatch& batch) {
        return predictions(*operations_, parameters, angles_, batch, temperature).logprobs;
      });
  for (std::size_t i = 0; i < all.size(); ++i) sink.put(i, all[i]);
}

void Trainer::values(const Examples& examples, const CriticSink& sink, const Context& context) {
  const auto all = for_answer_tokens(
      examples, context, [&](const DecoderParameters& parameters, const PackedBatch& batch) {
        return critic_values(parameters, last_hidden(*operations_, parameters, angles_, batch));
      });
  for (std::size_t i = 0; i < all.size(); ++i) sink.put(i, all[i]);
}

std::vector<std::vector<float>> Trainer::for_answer_tokens(
    const Examples& examples, const Context& context,
    const std::function<at::Tensor(const DecoderParameters&, const PackedBatch&)>& numbers) {
  check_examples(examples, layout().config, nullptr);
  const DecoderParameters parameters = model_.bind(model_.working(), {});
  std::vector<std::vector<float>> results(examples.size());
  run_shares(examples, context, [&](int, const MicroBatch& batch) {
    const at::NoGradGuard no_grad;
    const PackedBatch packed = pack_examples(examples, batch, operations_->device());
    const auto all = to_host(numbers(parameters, packed), at::kFloat);
    const float* from = all.const_data_ptr<float>();
    for (const std::size_t i : batch) {
      const std::size_t n = examples[i].tokens().size();
      results[i].assign(from, from + n);
      from += n;
    }
  });
  return results;
}

LossMetrics Trainer::forward_backward(const LossOptions& options, const Examples& examples,
                                      const Context& context) {
  check_examples(examples, layout().config, &options);
  if (!options_.critic) check_no_returns(examples);
  const bool needs_reference = options.kl > 0 && !all_have(examples, &Example::reference_logprobs);
  if (needs_reference && !state_.reference.defined()) state_.reference = snapshot();
  needs_behaviour_ = options.tis > 0 && !all_have(examples, &Example::old_logprobs);
  for (Replica& replica : replicas_) {
    if (on_cpu()) replica.gradient.zero_();
    replica.metrics.zero_();
  }
  if (!has_gradient_) gradient_.zero_();
  const bool lacked_a_part = lacks_a_part_;
  lacks_a_part_ = lacked_a_part || (has_gradient_ && !on_cpu());  // until all of it is there
  run_shares(examples, context, [&](int worker, const MicroBatch& batch) {
    train_micro_batch(replicas_[static_cast<std::size_t>(worker)], options, examples, batch);
  });
  lacks_a_part_ = lacked_a_part;
  LossMetrics metrics;
  for (const Replica& replica : replicas_) {
    if (on_cpu()) gradient_.add_(replica.gradient);
    metrics.add(to_metrics(replica.metrics));
  }
  has_gradient_ = true;
  ++calls_;
  return metrics;
}

std::optional<std::uint64_t> Trainer::dropout_seed(const MicroBatch& batch) const {
  if (model_.lora() == nullptr || model_.lora()->options.dropout == 0) return std::nullopt;
  const std::uint64_t seed = model_.lora()->options.seed;
  const auto block = philox(
      {static_cast<std::uint32_t>(state_.steps), static_cast<std::uint32_t>(state_.steps >> 32),
       static_cast<std::uint32_t>(calls_), static_cast<std::uint32_t>(batch.front())},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return std::uint64_t{block[0]} << 32 | block[1];
}

void Trainer::train_micro_batch(Replica& replica, const LossOptions& options,
                                const Examples& examples, const MicroBatch& batch) const {
  const PackedBatch packed = pack_examples(examples, batch, operations_->device());
  // A ratio of two policies compares them without: the one that sampled had none.
  const auto seed = options.kind == LossKind::kCrossEntropy ? dropout_seed(batch)
                                                            : std::optional<std::uint64_t>();
  const DecoderParameters with_dropout =
      seed ? model_.bind(model_.working(), replica.gradient, seed) : DecoderParameters();
  const DecoderParameters& parameters = seed ? with_dropout : replica.parameters;
  const auto frozen = [&](const DecoderParameters& bound) {
    return predictions(*operations_, bound, angles_, packed, options.temperature).logprobs;
  };
  const at::Device device = operations_->device();
  LossInputs inputs;
  if (options.kl > 0) {
    inputs.reference = given_logprobs(examples, batch, &Example::reference_logprobs, device);
    if (!inputs.reference.defined()) inputs.reference = frozen(model_.bind(state_.reference, {}));
  }
  if (options.tis > 0) {
    inputs.start = given_logprobs(examples, batch, &Example::old_logprobs, device);
    if (!inputs.start.defined() && state_.behaviour.defined())
      inputs.start = frozen(model_.bind(state_.behaviour, {}));
  }
  const at::Tensor hidden =
      last_hidden(*operations_, parameters, angles_, packed, {.recompute = options_.recompute});
  // Only now: a GPU is busy while the host prepares them.
  add_loss_inputs(options, examples, batch, device, inputs);
  if (options.kind == LossKind::kGspo) {
    const auto now =
        operations_->predict(hidden.detach(), parameters.head, packed.targets, options.temperature);
    const bool begins = options.tis > 0 && !inputs.start.defined();  // nothing was learned yet
    inputs.sequence_log_ratios =
        sequence_log_ratios(examples, batch, now.logprobs, begins ? now.logprobs : inputs.start);
  }
  operations_->learn(hidden, parameters, packed.targets, options.temperature, options, inputs,
                     replica.metrics);
}

double Trainer::optimizer_step(const krl_optimizer& optimizer) {
  check_optimizer(optimizer);
  if (!has_gradient_) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "there is no gradient to step with: call forward_backward first");
  }
  if (lacks_a_part_) {
    drop_gradient();
    throw Failure(KRL_FAILED_PRECONDITION,
                  "an earlier forward_backward failed, so its gradient was discarded; the step was "
                  "skipped and the weights are unchanged");
  }
  const at::NoGradGuard no_grad;
  ShardExchange* exchange = options_.exchange;
  if (exchange != nullptr) exchange->reduce_scatter(gradient_);
  const at::Tensor gradient = own(gradient_);
  double norm = global_norm(gradient);
  if (exchange != nullptr) norm = std::sqrt(exchange->sum(norm * norm));
  has_gradient_ = false;
  calls_ = 0;
  if (!std::isfinite(norm)) {
    gradient_.zero_();
    return norm;
  }
  const bool clips = optimizer.grad_clip > 0 && norm > optimizer.grad_clip;
  if (needs_behaviour_ && !state_.behaviour.defined()) state_.behaviour = snapshot();
  optimizer_.step(optimizer, clips ? optimizer.grad_clip / norm : 1, own(state_.weights), gradient,
                  state_.first_moment, state_.second_moment);
  if (exchange != nullptr) {
    exchange->all_gather(state_.weights);
    gradient_.zero_();  // the other ranks' parts too
  }
  ++state_.steps;
  weights_changed();
  return norm;
}

}  // namespace krl::libtorch
