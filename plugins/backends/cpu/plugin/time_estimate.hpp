// Converts the machine's counters to figures: the estimated time on a given GPU, and the values
// read by rewards and feedback. Immutable; callable from any thread.
#pragma once

#include <kernelrl/task_definition.hpp>
#include <string>
#include <vector>

#include "plugins/backends/cpu/gpu_model.hpp"
#include "plugins/backends/cpu/machine_protocol.hpp"
#include "plugins/backends/cpu/plugin/assembled_kernels.hpp"
#include "plugins/backends/cpu/plugin/value_names.hpp"
#include "plugins/backends/evaluator/check/roofline.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cpu {

class TimeEstimate {
 public:
  using Launches = std::vector<LaunchReport>;

  // Throws Failure(KRL_INVALID_ARGUMENT) with the known names if there is no such GPU.
  explicit TimeEstimate(const std::string& gpu);

  const std::string& device() const { return device_; }  // "emulated Jetson Orin Nano"
  std::string arch() const;                              // "sm_87", "sm_90a"
  std::uint32_t max_shared_bytes() const;

  PathClocks path_clocks() const { return cpu::path_clocks(*gpu_); }
  std::uint32_t resident_blocks(const Launch& launch, const AssembledKernel& kernel) const;

  // Estimates the time of all launches of a run, one after the other. `kernels`: those they launch.
  double run_ns(const Launches& launches, const AssembledKernels& kernels) const;
  // Distinct bytes that a run reads.
  double loaded_bytes(const Launches& launches) const;
  // The peak rates of the GPU, from its table.
  evaluator::Peaks peaks() const;
  // Explains why a run that takes `ns` cannot have done its work: it reads less than most of its
  // inputs, or takes less than 0.9 of the time that writing the outputs and reading the inputs
  // takes. Only the inputs that the naive kernel reads count, if these are fewer (a gather). Empty
  // if nothing speaks against it.
  std::string doubt(const ResolvedCase& resolved, const Launches& launches, double ns,
                    double naive_loaded_bytes) const;

  void add_values(const Launches& launches, const AssembledKernels& kernels,
                  std::int32_t case_index, std::vector<Value>* values) const;

 private:
  const GpuDescription* gpu_;
  std::string device_;
};

}  // namespace krl::cpu
