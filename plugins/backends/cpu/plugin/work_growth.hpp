// Bounds how much work a right but slow kernel may need at shapes beyond the shown ones, from its
// work at these. Pure.
#pragma once

#include "plugins/backends/cpu/plugin/machine_runs.hpp"

namespace krl::cpu {

class WorkGrowth {
 public:
  // Starts from the largest case whose run was counted and ended.
  WorkGrowth(const evaluator::PreparedTask& task, const MachineRuns& runs);

  // The warp instructions at a shape if each element takes another pass over all elements, or over
  // the longest axis, and twice as many for what else grows. 0 if no counted run ended.
  double most_at(const ResolvedCase& shape) const;

 private:
  const ResolvedCase* shown_ = nullptr;
  double work_ = 0;  // there
};

}  // namespace krl::cpu
