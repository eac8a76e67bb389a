// Builds candidates with host code (contract host): the checks of their text, the library, and the
// properties of their kernels. The candidate launches them itself, so no launch has figures: no
// occupancy, no dynamic shared memory.
#pragma once

#include "plugins/backends/evaluator/executor.hpp"

namespace krl::cuda {

// Builds the candidate and adds its kernels' figures; false if the record has the reason why not.
// `may_load`: its code may load some libraries.
bool build_host_candidate(evaluator::Attempt* attempt, bool may_load);

}  // namespace krl::cuda
