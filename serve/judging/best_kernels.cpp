#include "serve/judging/best_kernels.hpp"

#include <cmath>

namespace krl::serve {
namespace {

std::size_t bytes_of(const BestKernel& best) {
  if (!best.told || best.task->is_own) return 0;
  return serve::bytes_of(*best.told) + best.source.size() + best.task->task.definition_json.size();
}

}  // namespace

void BestKernels::consider(const std::string& client, const TaskPointer& task,
                           const std::string& source, const ToldPointer& told) {
  const double speedup = told->evaluation.speedup();
  if (!told->evaluation.passed() || !std::isfinite(speedup)) return;
  const std::string owner = task->is_own ? "" : client;
  const std::string key = task->task.id + " " + task->digest + " " + owner;
  const std::lock_guard lock(mutex_);
  if (!task->is_own && bytes_ >= kMostBytes && !best_.contains(key)) return;
  BestKernel& best = best_[key];
  if (best.told && best.told->evaluation.speedup() >= speedup) return;
  bytes_ -= bytes_of(best);
  best = {owner, task, source, told};
  bytes_ += bytes_of(best);
}

std::vector<BestKernel> BestKernels::list(const std::string& client,
                                          const std::string& task_id) const {
  const std::lock_guard lock(mutex_);
  std::vector<BestKernel> list;
  for (const auto& [key, best] : best_) {
    const bool is_seen = best.task->is_own || best.client == client;
    if (is_seen && (task_id.empty() || best.task->task.id == task_id)) list.push_back(best);
  }
  return list;
}

}  // namespace krl::serve
