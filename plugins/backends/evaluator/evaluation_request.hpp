// The input of an evaluation. Borrows its texts.
#pragma once

#include <kernelrl/abi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/files/digest.hpp"

namespace krl::evaluator {

struct EvaluationRequest {
  std::string_view definition_json, source;
  std::uint32_t stages = 0;  // KRL_STAGE_*
  std::uint64_t seed = 0;
  bool host = false;  // the contract is KRL_CONTRACT_HOST

  // Number of seed sets for plan_runs. A task's expected values are computed once for each set and
  // not again for each candidate. The set follows from the candidate's text, so that the same
  // candidate always gets the same evaluation; without knowing `seed` it cannot be chosen.
  static constexpr std::uint64_t kInputSets = 16;
  RunSeeds run_seeds(std::string_view task_digest) const {
    const std::uint64_t shared = mix_seed(seed, task_digest);
    return {shared, mix_seed(mix_seed(shared, "own"), mix_seed(shared, source) % kInputSets)};
  }

  // True if the candidate is run.
  bool executes() const {
    return (stages & (KRL_STAGE_CHECK | KRL_STAGE_TIME | KRL_STAGE_COUNTERS | KRL_STAGE_HOLDOUT |
                      KRL_STAGE_POOL)) != 0;
  }

  // True if no cache may answer, because a candidate that may be kept as the best is timed again.
  bool is_anew() const { return (stages & KRL_STAGE_POOL) != 0; }

  // Index of the set of the task's pool that the candidate is checked on; it differs between
  // candidates.
  std::uint64_t fresh_set(std::string_view task_digest) const {
    return mix_seed(mix_seed(mix_seed(seed, task_digest), "fresh set"), source);
  }

  // The name of its evaluation in a cache. `identity`: the digest of everything else that decides
  // it: toolchain, options, programs.
  std::string key(std::string_view identity) const {
    return files::Digest()
        .add(host ? "evaluation of a host program" : "evaluation")
        .add(identity)
        .add(definition_json)
        .add(source)
        .add(stages)
        .add(seed)
        .hex();
  }
};

using Cancelled = std::function<bool()>;

}  // namespace krl::evaluator
