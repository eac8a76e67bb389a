// What a micro-batch's loss is computed from beside its predictions, as tensors. One number for
// each answer token, in the order of pack_examples().
#pragma once

#include "model/operations.hpp"
#include "losses/loss.hpp"
#include "training/micro_batches.hpp"

namespace krl::libtorch {

using policies::LossOptions;

// Adds all that follows from the examples alone, on `device`. REQUIRES: checked examples.
void add_loss_inputs(const LossOptions& options, const Examples& examples, const MicroBatch& batch,
                     at::Device device, LossInputs& inputs);

// LossInputs::sequence_log_ratios, given the log-probabilities of now and those that ratios are
// taken against (undefined: those that sampled).
at::Tensor sequence_log_ratios(const Examples& examples, const MicroBatch& batch,
                               const at::Tensor& now, const at::Tensor& start);

}  // namespace krl::libtorch
