// What a backend is asked to evaluate. Borrows its texts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "plugins/backends/evaluator/cache/digest.hpp"

namespace krl {

struct EvaluationRequest {
  std::string_view definition_json, source;
  std::uint32_t stages = 0;  // KRL_STAGE_*
  std::uint64_t seed = 0;
  bool host = false;  // the contract is KRL_CONTRACT_HOST

  // The name of its evaluation in a cache. `identity`: the digest of everything else that decides
  // it: toolchain, options, programs.
  std::string key(std::string_view identity) const {
    return Digest()
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

}  // namespace krl
