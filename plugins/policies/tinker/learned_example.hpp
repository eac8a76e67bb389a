// The training data of one answer: a krl_example that outlives its call, because the service's
// results may arrive with a later one. Plain data.
#pragma once

#include <kernelrl/policy.hpp>
#include <vector>

#include "plugins/policies/losses/loss.hpp"
#include "plugins/policies/tinker/messages.hpp"

namespace krl::tinker {

struct LearnedExample {
  std::vector<TokenId> prompt, tokens;
  // Per token of the answer; `weights` is empty where all are 1, the others where the loss needs
  // none.
  std::vector<float> sampled, advantages, weights, old_logprobs, reference_logprobs;

  // Some token of it counts.
  bool counts() const;
};

// Limits for tokens and examples of this policy; 0 = unknown.
struct ExampleLimits {
  std::int64_t context = 0, vocabulary = 0;
};

// Copies examples for a loss. Throws krl::Failure (KRL_INVALID_ARGUMENT), naming example and value:
// missing prompt, answer, log-probabilities or advantages, other lengths than the answer's, numbers
// that are not finite, negative weights, token ids outside the vocabulary, more tokens than the
// context, returns (there is no critic), "tis" without old_logprobs. For "kl" reference_logprobs
// may be missing: see reference.hpp.
std::vector<LearnedExample> copy_examples(const Examples& examples,
                                          const policies::LossOptions& loss,
                                          const ExampleLimits& limits);

// The same without a loss: prompt and answer alone.
std::vector<LearnedExample> copy_examples(const Examples& examples, const ExampleLimits& limits);

}  // namespace krl::tinker
