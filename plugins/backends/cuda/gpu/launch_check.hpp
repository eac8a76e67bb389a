// Checks all timed launches of a candidate in one case, on a pool of inputs for which the checker
// knows the right outputs, in an unpredictable order. Used by the thread that holds the GPU's
// lease.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cuda {

class LaunchCheck {
 public:
  // `run`: a run of the case that the candidate has passed. `trusted`: the task's own kernel, or
  // null. All are borrowed.
  LaunchCheck(Gpu& gpu, const GpuCandidate& candidate, const GpuCandidate* trusted,
              const evaluator::PlannedRun& run, evaluator::EvaluationRecord* record)
      : gpu_(gpu), candidate_(candidate), trusted_(trusted), run_(run), record_(record) {}

  // A pool with at least so many members, the same for every candidate of the task. A few have
  // another distribution than as given, as checked runs have. Two in a row have the same seed, and
  // differ by their change: what recognises inputs by few of their elements takes one for the
  // other.
  const std::vector<gpu::DrawnInputs>& pool(std::size_t least, std::mt19937_64& random);
  // Returns the seeds of a new pool, for a candidate that would recognise earlier inputs: at most
  // `most`, and few if no trusted kernel computes the expected outputs and the reference has to.
  std::vector<std::uint64_t> fresh_seeds(std::size_t most, std::mt19937_64& random);

  // True if all outputs were right. If not, the record contains the reason; the candidate is then
  // loaded again. `examine`: filled in by the batch, with members of the pool that was last asked
  // for. May load the trusted kernel in the checker, and then clears `*in_checker`. Throws as
  // check_on_gpu.
  bool passes(gpu::Examine examine, const BufferSet& buffers, const GpuCandidate** in_checker);

 private:
  std::vector<gpu::DrawnInputs> new_pool(std::size_t number, std::mt19937_64& random) const;
  evaluator::PlannedRun run_of(std::size_t member) const;
  std::size_t room() const;  // for how many sets there is memory to spare
  bool has_many_inputs() const;
  void make_pool(const GpuCandidate** in_checker);
  void blame(const gpu::SetProblem& problem, const BufferSet& buffers, std::uint64_t member);
  bool is_wrong_untimed(std::uint64_t member);

  Gpu& gpu_;
  const GpuCandidate& candidate_;
  const GpuCandidate* const trusted_;
  const evaluator::PlannedRun& run_;
  evaluator::EvaluationRecord* const record_;
  std::string pool_;  // the key of the one that was last asked for
  std::string once_;  // the key of the last new pool
};

}  // namespace krl::cuda
