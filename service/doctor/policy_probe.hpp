// Asks a policy a few questions and reports how fast it answers, whether its seeds have an effect,
// and how good its log-probabilities are. Main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/policy.hpp"

namespace krl::service {
using namespace core;

// "speed", "8 answers of 62 tokens in 1.9 s: 261 tokens/s".
using Findings = std::vector<std::pair<std::string, std::string>>;

struct ProbeSettings {
  std::uint32_t answers = 8;      // at once; 0 = nothing is asked
  std::uint32_t max_tokens = 64;  // limit of each answer
  const Policy* truth = nullptr;  // the policy's log-probabilities are compared with its
};

Result<Findings> probe(const Policy& policy, const PolicyInfo& info, const ProbeSettings& settings);

}  // namespace krl::service
