// A model in training: its weights, their gradient and the optimiser's state.
//
// On the CPU work is distributed over worker threads: each computes its share of the examples into
// a separate gradient, and these are added in the order of the workers. The shares depend only on
// the lengths and the number of threads (micro_batches.hpp), so the same calls give the same bits
// regardless of timing. On a GPU the calling thread runs one micro-batch after the other on its
// current stream, into a single gradient. Used by one thread at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <kernelrl/policy.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "plugins/policies/libtorch/base/worker_threads.hpp"
#include "plugins/policies/libtorch/training/adamw.hpp"
#include "plugins/policies/libtorch/training/learned_model.hpp"
#include "plugins/policies/libtorch/training/micro_batches.hpp"
#include "plugins/policies/libtorch/training/shard_exchange.hpp"
#include "plugins/policies/losses/loss.hpp"

namespace krl::libtorch {

using policies::LossOptions;

// The state that the next step depends on, and that a checkpoint holds. Flat tensors, of all
// weights of the model or, with LoRA, of its adapters (Trainer::slots()); undefined where there is
// none.
struct TrainerState {
  at::Tensor weights;                      // in the master type, like the moments
  at::Tensor first_moment, second_moment;  // AdamW's; with other ranks, of this rank's slice
  // The trained weights when a loss with `kl` was first used, frozen, in the compute type.
  at::Tensor reference;
  // The weights that last sampled, in the compute type, kept where a loss uses `tis` and they have
  // changed since.
  at::Tensor behaviour;
  std::int64_t steps = 0;  // steps of the optimiser
};

struct TrainerOptions {
  // Type of forward and backward: float32 or float64 on the CPU, bfloat16 or float32 on a GPU.
  // Weights, moments and gradients are kept in float32, or in float64 with a float64 model.
  at::ScalarType compute = at::kFloat;
  std::int64_t micro_batch_tokens = 2048;  // bounds the memory of activations, of each worker
  bool recompute = false;                  // blocks in backward, for less memory
  std::optional<LoraOptions> lora = std::nullopt;
  std::optional<CriticOptions> critic = std::nullopt;
  // Connects to the trainers of other ranks, which learn the same from other examples; outlives
  // this one.
  ShardExchange* exchange = nullptr;
};

class Trainer {
 public:
  // `weights` are the model's. `threads` work on the CPU alone.
  Trainer(const ParameterLayout& layout, const StoredWeights& weights,
          std::unique_ptr<const Operations> operations, const TrainerOptions& options,
          WorkerThreads& threads);

  // The policy's logprobs of every example's tokens, put in the order of the examples. Errors of
  // this and the next: KRL_INVALID_ARGUMENT for an example that is wrong (named by its index),
  // KRL_CANCELLED.
  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& context);

  // The critic's value before each of every example's tokens, put in the order of the examples.
  // REQUIRES: options.critic. Errors as logprobs().
  void values(const Examples& examples, const CriticSink& sink, const Context& context);

  // Adds the gradient of the loss of the examples. After an error it is as it was before the call
  // on the CPU; on a GPU the gradient is lost, and the next step is refused, even if more is added
  // until then.
  LossMetrics forward_backward(const LossOptions& options, const Examples& examples,
                               const Context& context);

  // One step of AdamW (weight decay for matrices only) with the gradient so far, which is then
  // zero; returns its norm before clipping. If that is not finite the step is left out: the weights
  // and the optimiser's state are as before. Throws KRL_FAILED_PRECONDITION if there is no
  // gradient, and KRL_INVALID_ARGUMENT for a setting out of its range.
  //
  // With an exchange all ranks take the step together: their gradients add up, and each steps its
  // slice of the weights.
  double optimizer_step(const krl_optimizer& optimizer);

  // Forgets the gradient so far.
  void drop_gradient();

  // Records that the present weights are those that sample.
  void note_sampling() { state_.behaviour.reset(); }

  bool has_gradient() const { return has_gradient_; }
  // The gradient so far, flat, of the master type.
  const at::Tensor& gradient() const { return gradient_; }
  const TrainerState& state() const { return state_; }
  // The state with moments of all weights, for a checkpoint, which does not depend on the number of
  // ranks: all ranks call this together, and rank 0 gets it; the others' moments are undefined.
  // Throws KRL_FAILED_PRECONDITION while a gradient waits for its step, which would lose it.
  TrainerState whole_state() const;
  // Takes over another state, as whole_state() returns it. REQUIRES: tensors of this trainer's
  // sizes and types, on any device.
  void restore(TrainerState state);

  const ParameterLayout& layout() const { return model_.layout(); }
  // The trained weights: the place of each part in the flat tensors, and the adapters.
  const std::vector<ParameterSlot>& slots() const { return model_.slots(); }
  const LoraLayout* lora() const { return model_.lora(); }
  at::ScalarType type() const { return model_.compute_type(); }
  const Operations& operations() const { return *operations_; }

  // Another number after each change of the weights.
  std::int64_t version() const { return version_; }
  // Returns the model that generation reads in place: its addresses stay. optimizer_step() and
  // restore() change it.
  DecoderParameters parameters() const { return model_.bind(model_.working(), {}); }
  // The same, flat: LearnedModel::weights(), and the adapters, [lora()->total]. REQUIRES: lora().
  at::Tensor model_weights() const { return model_.weights(); }
  at::Tensor adapters() const { return model_.working().narrow(0, 0, lora()->total); }
  // All weights with the adapters added in, flat [layout.total], on the host: of the master type,
  // and as float32.
  at::Tensor merged() const { return model_.merged(); }
  std::vector<float> weights() const;

 private:
  // The working state of one worker.
  struct Replica {
    at::Tensor gradient;           // in the master type; on a GPU the trainer's own
    DecoderParameters parameters;  // their gradients are summed there
    at::Tensor metrics;            // sums of the call, [kLossMetrics]
  };

  // This rank's part of a flat array.
  at::Tensor own(const at::Tensor& flat) const {
    return flat.narrow(0, slice_.begin, slice_.size());
  }
  bool on_cpu() const { return operations_->device().is_cpu(); }
  void weights_changed();
  at::Tensor snapshot() const { return model_.working().clone(); }
  // Calls numbers(parameters, batch) → [answer tokens] for micro-batches of the examples; returns
  // an example's numbers at its index.
  std::vector<std::vector<float>> for_answer_tokens(
      const Examples& examples, const Context& context,
      const std::function<at::Tensor(const DecoderParameters&, const PackedBatch&)>& numbers);
  void run_shares(const Examples& examples, const Context& context,
                  const std::function<void(int, const MicroBatch&)>& work);
  void train_micro_batch(Replica& replica, const LossOptions& options, const Examples& examples,
                         const MicroBatch& batch) const;
  std::optional<std::uint64_t> dropout_seed(const MicroBatch& batch) const;

  std::unique_ptr<const Operations> operations_;
  TrainerOptions options_;
  LearnedModel model_;
  WorkerThreads& threads_;
  Angles angles_;
  TrainerState state_;
  Slice slice_;  // this rank's moments
  AdamW optimizer_;
  at::Tensor gradient_;
  bool has_gradient_ = false;
  bool lacks_a_part_ = false;  // a failed forward_backward lost a part
  std::int64_t calls_ = 0;     // calls of forward_backward since the last step
  std::int64_t version_ = 0;
  bool needs_behaviour_ = false;
  std::vector<Replica> replicas_;
};

}  // namespace krl::libtorch
