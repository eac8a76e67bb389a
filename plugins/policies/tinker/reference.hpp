// The base model of a policy, as the reference of "kl" if the plan names no other: the policy
// before its training. Used by one coroutine at a time.
#pragma once

#include <memory>
#include <vector>

#include "plugins/policies/tinker/learned_example.hpp"
#include "plugins/policies/tinker/session.hpp"

namespace krl::tinker {

class Reference {
 public:
  // The session outlives this. `in_flight`: requests at a time.
  Reference(Session& session, std::size_t in_flight) : session_(session), in_flight_(in_flight) {}

  // Adds reference_logprobs to each example that lacks them: the base model's log-probabilities of
  // the answer's tokens as parts of a prompt. Throws Failure as Futures does, and (KRL_UNAVAILABLE)
  // if these are no log-probabilities.
  void complete(std::vector<LearnedExample>& examples, const Patience& patience, Yield yield);

 private:
  std::vector<float> logprobs(const LearnedExample& example, const Patience& patience, Yield yield);

  Session& session_;
  const std::size_t in_flight_;
  std::shared_ptr<Sampler> sampler_;  // null before the first use
};

}  // namespace krl::tinker
