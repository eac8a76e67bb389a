#include "core/learn/judged.hpp"

#include <nlohmann/json.hpp>

#include "core/learn/declared_metrics.hpp"
#include "core/task/source_identity.hpp"

namespace krl::core {
namespace {

constexpr const char *kKernels = "judged/kernels", *kPerTask = "judged/per_task",
                     *kDropped = "judged/dropped";

}  // namespace

std::shared_ptr<const KernelIds> Judged::of(const Task& task) const {
  const auto known = tasks_.find(task.id);
  return known == tasks_.end() ? nullptr : known->second;
}

Metrics Judged::add(const std::vector<Episode>& episodes) {
  std::map<std::string, KernelIds> found;
  double dropped = 0;
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns) {
      dropped += turn.dropped;
      const bool cut_off = turn.candidate.format == Format::kTruncated;
      if (turn.evaluation.infra_error() || turn.candidate.source.empty() || cut_off) continue;
      found[episode.task->id].insert(identity_of(turn.candidate.source));
    }
  }
  for (auto& [task, ids] : found) {
    auto& known = tasks_[task];
    if (known != nullptr) ids.insert(known->begin(), known->end());
    known = std::make_shared<const KernelIds>(std::move(ids));  // groups in play read the old one
  }
  double kernels = 0;
  for (const auto& [task, ids] : tasks_) kernels += static_cast<double>(ids->size());
  Metrics metrics = {{kKernels, kernels}, {kDropped, dropped}};
  if (!tasks_.empty()) metrics[kPerTask] = kernels / static_cast<double>(tasks_.size());
  return metrics;
}

nlohmann::json Judged::state() const {
  nlohmann::json state = nlohmann::json::object();
  for (const auto& [task, ids] : tasks_) state[task] = *ids;
  return state;
}

void Judged::restore(const nlohmann::json& state) {
  for (const auto& [task, ids] : state.items())
    tasks_[task] = std::make_shared<KernelIds>(ids.get<KernelIds>());
}

void declare_judged_metrics(MetricNames& names) {
  for (const char* name : {kKernels, kPerTask, kDropped}) names.of_iterations.emplace_back(name);
}

}  // namespace krl::core
