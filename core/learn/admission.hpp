// Admission to best/: a kernel that passed in training was checked on few shapes and timed once, so
// the fastest of many is partly lucky.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/evaluations.hpp"
#include "core/run/best.hpp"
#include "core/run/metrics.hpp"
#include "core/task/source_identity.hpp"

namespace krl::core {

// Offers each task's kernels of `iteration` that are faster than its best so far and pass a second
// evaluation: on the whole pool and the hold-outs, timed again, without a cache. The fastest by the
// second one is offered, of three at most, and best/ keeps its figures. A kernel that fails it is
// logged and never tried again; best/refused counts those of the iteration, which are returned. An
// error here concerns the run.
Result<TaskKernelIds> admit_best_kernels(int iteration, const std::vector<Episode>& episodes,
                                         const Evaluations& evaluations, BestKernels& best,
                                         Metrics& metrics);

}  // namespace krl::core
