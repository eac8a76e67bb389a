// Log-probabilities of given tokens, for a policy that serves as a reference.
#pragma once

#include <kernelrl/policy.hpp>

#include "plugins/policies/openai/engine.hpp"

namespace krl::openai {

// Implements krl_policy_v.logprobs. Throws krl::Failure: KRL_UNIMPLEMENTED if the server cannot do
// it, or not at this temperature; KRL_INVALID_ARGUMENT for an example beyond the context.
void score(Engine& engine, double temperature, const Examples& examples, const LogprobSink& sink,
           const Context& context);

// The call's deadline, or `limit` from now if that is earlier. Keeps a reference to `context`.
Patience patience_of(const Context& context, Seconds limit);

}  // namespace krl::openai
