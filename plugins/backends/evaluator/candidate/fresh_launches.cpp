#include "plugins/backends/evaluator/candidate/fresh_launches.hpp"

#include <cstdint>
#include <limits>
#include <span>

#include "plugins/backends/evaluator/candidate/kernel_figures.hpp"

namespace krl::evaluator {
namespace {

// Fails `found` if the launches cannot happen at one of the shapes.
LaunchSchedule launches_at(std::span<const ResolvedCase> shapes, const LaunchSchedule& schedule,
                           const LaunchLimits& limits, const CompiledModule& module,
                           const ComputeCapability& gpu, const std::string& arch,
                           EvaluationRecord* found) {
  auto launches = schedule_at(shapes, schedule, limits);
  if (!launches) {
    found->fail(Verdict::kLaunchError, described(launches.error()));
    return {};
  }
  add_kernel_figures(shapes, *launches, module, gpu, arch, found);
  return *std::move(launches);
}

}  // namespace

LaunchLimits launch_limits(const ComputeCapability& gpu) {
  LaunchLimits limits;
  limits.shared_bytes = gpu.shared_per_block;
  return limits;
}

Obstacles add_fresh_launches(const PreparedTask& asked, const CompiledModule& module,
                             const ComputeCapability& gpu, const std::string& arch,
                             LaunchSchedule* schedule) {
  Obstacles obstacles;
  for (std::size_t c = asked.n_known(); c < asked.cases.size(); ++c) {
    EvaluationRecord found;
    auto fresh = launches_at(std::span(asked.cases).subspan(c, 1), *schedule, launch_limits(gpu),
                             module, gpu, arch, &found);
    fresh.programs.resize(1);
    schedule->programs.push_back(std::move(fresh.programs.front()));
    if (found.verdict != Verdict::kOk) obstacles.emplace(c, std::move(found.why));
  }
  return obstacles;
}

// Nearly always there is no obstacle, which one look at all shapes tells. The limit of scratch memory
// is no one's but ours: it holds where kernels run.
std::optional<std::pair<std::string, std::string>> launch_obstacle(const PreparedTask& task,
                                                                   const LaunchSchedule& schedule,
                                                                   const CompiledModule& module,
                                                                   const ComputeCapability& gpu,
                                                                   const std::string& arch) {
  LaunchLimits limits = launch_limits(gpu);
  limits.scratch_bytes = std::numeric_limits<std::int64_t>::max();
  const auto obstacle_at = [&](std::span<const ResolvedCase> shapes) {
    EvaluationRecord found;
    if (!shapes.empty()) launches_at(shapes, schedule, limits, module, gpu, arch, &found);
    return found.why;
  };
  if (obstacle_at(task.launchable).empty()) return std::nullopt;
  for (const ResolvedCase& shape : task.launchable) {
    std::string why = obstacle_at({&shape, 1});
    if (!why.empty()) return std::pair(shape.label, std::move(why));
  }
  return std::nullopt;
}

}  // namespace krl::evaluator
