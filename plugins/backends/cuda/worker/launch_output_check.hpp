// Compares the outputs of many timed launches with those that a trusted program computed from the
// same inputs: the task's naive kernel, which has passed the check itself, or the reference if
// there is none. Used by one thread; the session's context is current.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "plugins/backends/cuda/worker/output_check.hpp"

namespace krl::gpu {

class LaunchOutputCheck {
 public:
  // `memory_bytes`: of the pools that are kept, the last one in any case.
  LaunchOutputCheck(DeviceSession& session, OutputCheck& check, std::uint64_t memory_bytes);

  ReferenceProblem make(const Pool& pool);
  Examined examine(const Examine& examine);

 private:
  struct Output {
    std::uint64_t offset = 0, elements = 0;
    DType dtype = DType::kFloat32;
    double atol = 0, rtol = 0;  // of a difference between two that are right
  };
  struct Made {
    DeviceMemory memory;  // a set for each seed, one after the other
    std::uint64_t bytes = 0;
    Program program;
    std::vector<Output> outputs;

    CUdeviceptr set(std::uint64_t member) const { return memory.get() + member * program.bytes; }
  };

  ReferenceProblem compute(const Pool& pool, const Made& made);
  std::vector<Output> outputs_of(const Pool& pool);
  void keep(const std::string& key, Made made);
  void find_wrong_outputs(const Examine& examine, const Made& pool, CUdeviceptr copies,
                          std::vector<SetProblem>* problems);
  void find_changes(const Examine& examine, const Made& pool, CUdeviceptr copies,
                    std::vector<SetProblem>* problems);

  DeviceSession& session_;
  OutputCheck& check_;
  const std::uint64_t memory_bytes_;
  CUfunction compare_;
  std::map<std::string, Made> pools_;
  std::deque<std::string> order_;  // of pools, the oldest first
  std::uint64_t bytes_ = 0;        // of them
  UploadBuffer comparisons_, wrong_;
};

}  // namespace krl::gpu
