#include "serve/judging/best_kernels.hpp"

#include <cmath>

namespace krl::serve {

void BestKernels::consider(const TaskPointer& task, const std::string& source,
                           const ToldPointer& told) {
  const double speedup = told->evaluation.speedup();
  if (!told->evaluation.passed() || !std::isfinite(speedup)) return;
  const std::lock_guard lock(mutex_);
  BestKernel& best = best_[task->task.id + " " + task->digest];
  if (!best.told || best.told->evaluation.speedup() < speedup) best = {task, source, told};
}

std::vector<BestKernel> BestKernels::list(const std::string& task_id) const {
  const std::lock_guard lock(mutex_);
  std::vector<BestKernel> list;
  for (const auto& [key, best] : best_) {
    if (task_id.empty() || best.task->task.id == task_id) list.push_back(best);
  }
  return list;
}

}  // namespace krl::serve
