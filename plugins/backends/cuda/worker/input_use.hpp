// Measures which share of a task's inputs a right kernel must read: single elements are made
// extreme, one at a time, and the task's own kernel shows whether an output follows. Used by one
// thread; the session's context is current.
#pragma once

#include <vector>

#include "plugins/backends/cuda/worker/output_check.hpp"

namespace krl::gpu {

class InputUse {
 public:
  InputUse(DeviceSession& session, OutputCheck& check)
      : session_(session), check_(check), compare_(session.trusted("krl_compare_launches")) {}

  // Returns a share for each input; 0 if its elements cannot be changed one by one.
  std::vector<double> shares(const UseInputs& use);

 private:
  bool follows(const UseInputs& use, const Fill& change);
  // Lays out the set and runs the program on it, with a change.
  void run(const UseInputs& use, CUdeviceptr set, const std::vector<Fill>& change);

  DeviceSession& session_;
  OutputCheck& check_;
  CUfunction compare_;
  DeviceMemory memory_;  // two sets, the second with a change
  UploadBuffer comparisons_, different_;
};

}  // namespace krl::gpu
