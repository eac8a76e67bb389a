// The trained weights of a model, and those used by forward passes: all of them or, with LoRA,
// adapters on top of a frozen model.
//
// Their owner (the trainer) keeps the trained weights in full precision; here are the copies in the
// compute type. Used by one thread at a time, but bound parameters by any.
#pragma once

#include <optional>

#include "plugins/policies/libtorch/model/critic.hpp"
#include "plugins/policies/libtorch/model/llama.hpp"
#include "plugins/policies/libtorch/model/lora.hpp"
#include "plugins/policies/libtorch/model/stored_weights.hpp"

namespace krl::libtorch {

class LearnedModel {
 public:
  // `weights` are the model's. `compute` is float32 or float64 on the CPU, bfloat16 or float32 on a
  // GPU.
  LearnedModel(const ParameterLayout& layout, const StoredWeights& weights,
               const std::optional<LoraOptions>& lora, const std::optional<CriticOptions>& critic,
               const Operations& operations, at::ScalarType compute);

  const ParameterLayout& layout() const { return layout_; }
  const LoraLayout* lora() const { return lora_ ? &*lora_ : nullptr; }
  at::ScalarType compute_type() const { return compute_; }
  // Type of the numbers that learn, of their moments and their gradient: float64 if the model
  // computes in it, else float32.
  at::ScalarType master_type() const { return compute_ == at::kDouble ? at::kDouble : at::kFloat; }

  // Ranges of the learned parameters in one flat array [total()]; those before matrices_end() are
  // matrices. A critic's weight and bias come last.
  const std::vector<ParameterSlot>& slots() const { return slots_; }
  std::int64_t total() const { return policy_total() + (critic_ ? layout_.config.hidden + 1 : 0); }
  // Size of the policy, without the critic.
  std::int64_t policy_total() const { return lora_ ? lora_->total : layout_.total; }
  std::int64_t matrices_end() const { return lora_ ? lora_->total : layout_.matrices_end; }

  // The initial trained weights for a model with `weights`: a new flat array of the master type.
  at::Tensor start(const StoredWeights& weights) const;

  // Takes over learned weights: `master` [total()] of the master type. The address of working()
  // stays.
  void update(const at::Tensor& master);

  // The trained weights in the compute type; `master` itself if the types are the same.
  const at::Tensor& working() const { return working_; }

  // The parameters of a forward pass with `learned` (as working(), or a copy of it) in place of
  // what learns. Gradients are summed in `gradients` [total()] of the master type; undefined: none.
  // `dropout_seed` says which inputs adapters do not see, unless it is empty.
  DecoderParameters bind(const at::Tensor& learned, const at::Tensor& gradients,
                         std::optional<std::uint64_t> dropout_seed = std::nullopt) const;

  // The model's weights, [layout().total] of the compute type, always at the same address; with
  // LoRA the frozen ones, alongside which the adapters are.
  at::Tensor weights() const { return lora_ ? base_ : working_.narrow(0, 0, layout_.total); }

  // All weights of the model as they are now, adapters added in: on the CPU, of the master type.
  at::Tensor merged() const;

 private:
  ParameterLayout layout_;
  std::optional<LoraLayout> lora_;
  std::optional<CriticOptions> critic_;
  std::vector<ParameterSlot> slots_;
  const Operations& operations_;
  at::ScalarType compute_;
  at::Tensor base_;            // with LoRA: the frozen weights, [layout_.total]
  at::Tensor working_;         // [total()]
  at::Tensor critic_weights_;  // [hidden + 1], of the master type: the end of what update() took
};

}  // namespace krl::libtorch
