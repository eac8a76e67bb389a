// Figures of a timed case beside its time: how far it is from the limits of the GPU and from the
// reference, what transfers would add, and whether any kernel can be as fast. Asks the checker
// only. Used by the thread that holds the GPU's lease.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cuda {

class CaseFigures {
 public:
  CaseFigures(Gpu& gpu, const evaluator::PreparedTask& task, const evaluator::PlannedRun& run)
      : gpu_(gpu), task_(task), run_(run) {}

  // The names under which the checker's times of the case's reference and of a kernel are known.
  std::string key_of_reference() const { return key() + "reference"; }
  std::string key_of(const std::string& digest) const { return key() + digest; }

  // The reference's times with inputs of these seeds; empty if it cannot run where the checker
  // computes. Throws as Gpu::ask_checker does, as all of these do.
  std::vector<double> time_reference(const std::vector<std::uint64_t>& seeds) const;
  // Measured once a task and checker; 0 if it cannot run there. REQUIRES, where it is not known
  // yet: no candidate's process could use the GPU meanwhile.
  double reference_ns(std::mt19937_64& random) const;
  // Adds the transfers, the share of the roofline and the speedup over the reference, whose time is
  // 0 if there is none.
  void add(double reference_ns, evaluator::EvaluationRecord* record) const;
  // Explains why no candidate with so many launches can be this fast; empty if one can. May load
  // the task's own kernel in the checker to find which inputs must be read; `own` is null if there
  // is none.
  std::string faster_than_possible(double ns, std::size_t launches, const GpuCandidate* own) const;

 private:
  std::string key() const { return task_.digest + "/" + std::to_string(run_.case_index) + "/"; }
  void add_transfer(evaluator::EvaluationRecord* record) const;
  const ResolvedCase& resolved() const { return task_.cases[run_.case_index]; }
  double written_bytes() const;
  double read_bytes(const GpuCandidate& own) const;

  Gpu& gpu_;
  const evaluator::PreparedTask& task_;
  const evaluator::PlannedRun& run_;
};

}  // namespace krl::cuda
