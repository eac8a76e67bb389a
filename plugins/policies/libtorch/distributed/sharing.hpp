// Distributes the work of a call over ranks. Pure functions of the call and the number of ranks, so
// that results do not depend on timing.
#pragma once

#include <cstdint>
#include <kernelrl/policy.hpp>
#include <span>
#include <string>
#include <vector>

namespace krl::libtorch {

using RankShare = std::vector<std::size_t>;  // indices of requests or examples, rising

// Ranks get numbers of samples that differ by as little as whole requests allow; requests with the
// same prompt stay on one rank as far as that goes, so that it reads their prompt once.
std::vector<RankShare> share_requests(const Requests& requests, int ranks);

// A text that is the same for requests with the same prompt, and for no others.
std::string prompt_key(const Request& request);

// Each example goes, longest first, to the rank with the fewest tokens. `lengths` counts prompt and
// answer.
std::vector<RankShare> share_examples(std::span<const std::int64_t> lengths, int ranks);

}  // namespace krl::libtorch
