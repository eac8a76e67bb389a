// Checks the examples of a call and packs them for the forward pass.
#pragma once

#include <kernelrl/policy.hpp>

#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/libtorch/model/packed_batch.hpp"
#include "plugins/policies/libtorch/training/micro_batches.hpp"
#include "plugins/policies/losses/loss.hpp"

namespace krl::libtorch {

using policies::LossOptions;

// Throws krl::Failure (KRL_INVALID_ARGUMENT) that names the first example with something wrong: no
// prompt or answer, longer than the context, a token outside the vocabulary, logprobs, advantages
// or weights that are missing, of another length, or not finite. `loss` null: only tokens are
// needed.
void check_examples(const Examples& examples, const ModelConfig& config, const LossOptions* loss);

// Throws krl::Failure (KRL_INVALID_ARGUMENT) that names the first example with returns: there is no
// critic to learn them.
void check_no_returns(const Examples& examples);

// Prompt and answer of each example, in tokens.
std::vector<std::int64_t> example_lengths(const Examples& examples);

// Packs the examples of a micro-batch one after the other; only the answers' tokens are predicted,
// in order. Tensors are on `device`. REQUIRES: checked examples.
PackedBatch pack_examples(const Examples& examples, const MicroBatch& batch, at::Device device);

}  // namespace krl::libtorch
