// The clock on our wall against the times that a runner reports. Host code of a candidate runs in
// the process that measures it, and may have changed what that measures; it has no hand on our
// clock. Plain arithmetic.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace krl {

// Of one case. All times in ns.
class WallClock {
 public:
  // A batch: how long we waited for it, and what all of its launches took, as reported.
  void candidate(double waited, double reported);
  void baseline(double waited, double reported);

  // Why the reported times cannot be true; empty: they can, or nobody knows. A batch of the
  // baseline, which a process that we trust has measured, shows what a batch takes beside its
  // launches: filling buffers and caches, and the way there and back. Neither much more nor much
  // less may a batch of the candidate take. `samples`: of a batch.
  std::string objection(std::size_t samples) const;

 private:
  // Beside the launches, in the batch that took the least: nothing else disturbed that.
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  double candidate_waited_ = kNone, candidate_beside_ = kNone;
  double baseline_beside_ = kNone;
};

}  // namespace krl
