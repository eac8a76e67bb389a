// Distributes the examples of a call to workers, and within a worker to micro-batches. A pure
// function of the lengths and the number of workers, so that results do not depend on timing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krl::libtorch {

using MicroBatch = std::vector<std::size_t>;  // indices of examples
using Share = std::vector<MicroBatch>;        // one worker's, in the order in which it runs them

// Each example goes, longest first, to the worker with the fewest tokens; a worker's examples are
// then cut into micro-batches of at most `tokens` tokens (or of one longer example). `lengths`
// counts prompt and answer. REQUIRES: workers >= 1, tokens >= 1.
std::vector<Share> share_out(std::span<const std::int64_t> lengths, int workers,
                             std::int64_t tokens);

}  // namespace krl::libtorch
