// Judges the outputs of many timed launches as those of checked runs are judged. First they are
// compared with the outputs that a trusted program computed from the same inputs: the task's naive
// kernel, which has passed the check itself, or the reference if there is none. The allowed
// rounding is that of the element in a checked run, and none for the first members of a pool.
// Outputs that differ are compared with the reference. Used by one thread; the session's context is
// current.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cuda/worker/output_check.hpp"

namespace krl::gpu {

class LaunchOutputCheck {
 public:
  // `memory_bytes`: of the pools that are kept, at most, but for the last one. They give way to what
  // `kept` makes room for.
  LaunchOutputCheck(DeviceSession& session, OutputCheck& check, std::uint64_t memory_bytes,
                    KeptMemory& kept);

  evaluator::ReferenceProblem make(const Pool& pool);
  Examined examine(const Examine& examine);

 private:
  struct Output {
    std::uint64_t offset = 0, elements = 0;
    DType dtype = DType::kFloat32;
    CUdeviceptr rounding = 0;  // rounding of each element in the checked run
  };
  struct Made {
    DeviceMemory memory;  // a set for each seed, one after the other
    std::uint64_t bytes = 0;
    Pool pool;
    std::shared_ptr<const OutputCheck::Expected> checked;  // from the checked run
    std::vector<Output> outputs;

    CUdeviceptr set(std::uint64_t member) const {
      return memory.get() + member * pool.program.bytes;
    }
    // True if a checked run's rounding does not apply to the member, because it has another
    // distribution.
    bool is_exact(std::uint64_t member) const { return member < pool.exact.size(); }
    // Returns the check of a member that was run like a checked one.
    Check check_of(std::uint64_t member) const;
  };

  evaluator::ReferenceProblem compute(const Made& made);
  void keep(const std::string& key, Made made);
  bool drop_oldest();  // false if no pool is kept
  void find_wrong_outputs(const Examine& examine, const Made& made, CUdeviceptr copies,
                          std::vector<SetProblem>* problems);
  // Returns the sets whose outputs differ from the trusted program's, the largest differences
  // first.
  std::vector<std::size_t> different_sets(const Examine& examine, const Made& made,
                                          CUdeviceptr copies);
  void find_changes(const Examine& examine, const Made& made, CUdeviceptr copies,
                    std::vector<SetProblem>* problems);

  DeviceSession& session_;
  OutputCheck& check_;
  KeptMemory& kept_;
  const std::uint64_t memory_bytes_;
  CUfunction compare_;
  std::map<std::string, std::shared_ptr<const Made>> pools_;
  std::deque<std::string> order_;  // keys of pools, oldest first
  std::uint64_t bytes_ = 0;        // size of all pools
  UploadBuffer comparisons_, wrong_;
};

}  // namespace krl::gpu
