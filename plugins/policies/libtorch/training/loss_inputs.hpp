// The inputs of a micro-batch's loss in addition to its predictions, as tensors. One number for
// each answer token, in the order of pack_examples().
#pragma once

#include "plugins/policies/libtorch/model/operations.hpp"
#include "plugins/policies/libtorch/training/micro_batches.hpp"
#include "plugins/policies/losses/loss.hpp"

namespace krl::libtorch {

using policies::LossOptions;

// Adds all that follows from the examples alone, on `device`. REQUIRES: checked examples.
void add_loss_inputs(const LossOptions& options, const Examples& examples, const MicroBatch& batch,
                     at::Device device, LossInputs& inputs);

// Returns the log-probabilities in `member` of the examples, old or of a reference, [answer
// tokens]; undefined if they have none. REQUIRES: checked examples.
using GivenLogprobs = Span<float> (Example::*)() const;
at::Tensor given_logprobs(const Examples& examples, const MicroBatch& batch, GivenLogprobs member,
                          at::Device device);

// True if all examples have them; false without examples, because those of other ranks may lack
// them. REQUIRES: checked examples.
bool all_have(const Examples& examples, GivenLogprobs member);

// Computes LossInputs::sequence_log_ratios from the present log-probabilities and those that ratios
// are taken against (undefined: those that sampled).
at::Tensor sequence_log_ratios(const Examples& examples, const MicroBatch& batch,
                               const at::Tensor& now, const at::Tensor& start);

}  // namespace krl::libtorch
