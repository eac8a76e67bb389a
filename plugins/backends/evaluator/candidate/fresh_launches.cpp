#include "plugins/backends/evaluator/candidate/fresh_launches.hpp"

#include <cstdint>
#include <limits>
#include <span>

namespace krl::evaluator {
namespace {

// Fails `found` if the launches cannot happen at one of the shapes.
LaunchSchedule launches_at(std::span<const ResolvedCase> shapes, const Built& built,
                           const LaunchLimits& limits, const Target& target,
                           EvaluationRecord* found) {
  auto launches = schedule_at(shapes, built.schedule, limits);
  if (!launches) {
    found->fail(Verdict::kLaunchError, described(launches.error()));
    return {};
  }
  add_kernel_figures(shapes, *launches, built.compiled->kernels, target, found);
  return *std::move(launches);
}

}  // namespace

Obstacles add_fresh_launches(const PreparedTask& asked, const Target& target, Built* built) {
  Obstacles obstacles;
  for (std::size_t c = asked.n_known(); c < asked.cases.size(); ++c) {
    EvaluationRecord found;
    auto fresh = launches_at(std::span(asked.cases).subspan(c, 1), *built, target.launch_limits(),
                             target, &found);
    fresh.programs.resize(1);
    built->schedule.programs.push_back(std::move(fresh.programs.front()));
    if (found.verdict != Verdict::kOk) obstacles.emplace(c, std::move(found.why));
  }
  return obstacles;
}

// Nearly always there is no obstacle, which one look at all shapes tells. The limit of scratch memory
// is no one's but ours: it holds where kernels run.
std::optional<std::pair<std::string, std::string>> launch_obstacle(const PreparedTask& task,
                                                                   const Target& target,
                                                                   const Built& built) {
  LaunchLimits limits = target.launch_limits();
  limits.scratch_bytes = std::numeric_limits<std::int64_t>::max();
  const auto obstacle_at = [&](std::span<const ResolvedCase> shapes) {
    EvaluationRecord found;
    if (!shapes.empty()) launches_at(shapes, built, limits, target, &found);
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
