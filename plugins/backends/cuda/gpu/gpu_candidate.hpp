// A compiled candidate, or a baseline, as GPUs run it. Borrows its parts.
#pragma once

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/cuda/gpu/buffer_set.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl::cuda {

struct GpuCandidate {
  const evaluator::PreparedTask& task;
  const evaluator::LaunchSchedule& schedule;
  const compiled::CompiledModule& module;

  // True if it has host code: then it has no schedule, and counts as one launch.
  bool has_host() const { return !module.library.empty(); }
  gpu::Load load() const {
    if (has_host()) return {"", {}, module.library};
    return {module.cubin, module.names, "", compiled::has_variables(module.cubin),
            compiled::most_stack(module.cubin, module.ptx)};
  }
  BufferSet buffers(std::size_t case_index) const {
    if (has_host()) return lay_out_host(task, case_index);
    return lay_out(task, case_index, schedule.programs[case_index], schedule.kernels);
  }
};

}  // namespace krl::cuda
