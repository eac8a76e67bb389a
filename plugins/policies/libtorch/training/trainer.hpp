// A model that learns: its weights, their gradient and the optimiser's state.
//
// Work is spread over worker threads: each computes its share of the examples into a gradient of
// its own, and these are added in the order of the workers. The shares follow from the lengths and
// the number of threads alone (micro_batches.hpp), so the same calls give the same bits whatever
// the timing. Used by one thread at a time.
#pragma once

#include <kernelrl/policy.hpp>
#include <optional>
#include <vector>

#include "engine/worker_threads.hpp"
#include "model/llama.hpp"
#include "model/parameters.hpp"
#include "torch.hpp"
#include "training/loss.hpp"
#include "training/micro_batches.hpp"

namespace krl::libtorch {

// All that the next step depends on; what a checkpoint holds. Flat tensors [layout.total] of the
// model's type; undefined where there is none.
struct TrainerState {
  at::Tensor weights;
  at::Tensor first_moment, second_moment;  // AdamW's
  // The weights when a loss with `kl` was first asked for: the reference, frozen.
  at::Tensor reference;
  // The weights that last sampled, kept where a loss uses `tis` and they have changed since.
  at::Tensor behaviour;
  std::int64_t steps = 0;  // of the optimiser
};

class Trainer {
 public:
  // `micro_batch_tokens` bounds the memory of a worker. `type` is float32 or float64.
  Trainer(const ParameterLayout& layout, const std::vector<float>& weights, at::ScalarType type,
          std::int64_t micro_batch_tokens, WorkerThreads& threads);

  // The policy's logprobs of every example's tokens, put in the order of the examples. Errors of
  // this and the next: KRL_INVALID_ARGUMENT for an example that is wrong (named by its index),
  // KRL_CANCELLED.
  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& context);

  // Adds the gradient of the loss of the examples. After an error it is as it was before the call.
  LossMetrics forward_backward(const LossOptions& options, const Examples& examples,
                               const Context& context);

  // One step of AdamW (Loshchilov and Hutter 2019; weight decay for matrices only) with the
  // gradient so far, which is then zero; returns its norm before clipping. Throws
  // KRL_FAILED_PRECONDITION if there is no gradient or it is not finite (it is then dropped, the
  // weights are as before), and KRL_INVALID_ARGUMENT for a setting out of its range.
  double optimizer_step(const krl_optimizer& optimizer);

  // The weights of now are those that sample.
  void note_sampling() { state_.behaviour.reset(); }

  bool has_gradient() const { return has_gradient_; }
  // The gradient so far, [total].
  const at::Tensor& gradient() const { return gradient_; }
  const TrainerState& state() const { return state_; }
  // Takes over another state. REQUIRES: tensors of this model's size and type.
  void restore(TrainerState state);

  const ParameterLayout& layout() const { return layout_; }
  at::ScalarType type() const { return type_; }
  // The weights as float32.
  std::vector<float> weights() const;

 private:
  // What one worker computes with.
  struct Replica {
    at::Tensor gradient;              // [total]
    std::vector<at::Tensor> weights;  // views of the weights whose gradients are views of it
    LossMetrics metrics;
  };

  void bind_replicas();
  void run_shares(const Examples& examples, const Context& context,
                  const std::function<void(int, const MicroBatch&)>& work);
  void train_micro_batch(Replica& replica, const LossOptions& options, const Examples& examples,
                         const MicroBatch& batch) const;

  ParameterLayout layout_;
  at::ScalarType type_;
  std::int64_t micro_batch_tokens_;
  WorkerThreads& threads_;
  RotaryTensors rotary_;
  TrainerState state_;
  std::vector<at::Tensor> step_counts_;  // as torch's AdamW wants it: one a group of parameters
  at::Tensor gradient_;
  bool has_gradient_ = false;
  bool uses_tis_ = false;
  std::vector<Replica> replicas_;
};

}  // namespace krl::libtorch
