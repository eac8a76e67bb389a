#include "plugins/backends/cuda/fresh_launches.hpp"

#include <span>
#include <utility>

#include "plugins/backends/cuda/kernel_figures.hpp"

namespace krl::cuda {

LaunchLimits launch_limits(const ComputeCapability& gpu) {
  LaunchLimits limits;
  limits.shared_bytes = gpu.shared_per_block;
  return limits;
}

Obstacles add_fresh_launches(const PreparedTask& asked, std::string_view source,
                             const CompiledModule& module, const ComputeCapability& gpu,
                             const std::string& arch, LaunchSchedule* schedule) {
  Obstacles obstacles;
  for (std::size_t c = asked.n_known(); c < asked.cases.size(); ++c) {
    const auto one = std::span(asked.cases).subspan(c, 1);
    EvaluationRecord found;
    auto fresh = read_schedule(source, asked.definition, one, launch_limits(gpu));
    if (fresh) {
      add_kernel_figures(one, *fresh, module, gpu, arch, &found);
      schedule->programs.push_back(std::move(fresh->programs.front()));
    } else {
      found.fail(Verdict::kLaunchError, described(fresh.error()));
      schedule->programs.emplace_back();
    }
    if (found.verdict != Verdict::kOk) obstacles.emplace(c, std::move(found.why));
  }
  return obstacles;
}

}  // namespace krl::cuda
