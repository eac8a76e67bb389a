// Digests by which two candidates are compared: of their code, and of their results. Each is a
// value of an evaluation, a whole number of 52 bits.
#pragma once

#include <kernelrl/cuda_source.hpp>
#include <string_view>

#include "plugins/backends/cpu/plugin/machine_runs.hpp"
#include "plugins/files/digest.hpp"

namespace krl::cpu {

// Computes a digest of the compiled code, without comments and source locations, and of the
// directives: candidates with equal digests do the same.
Value code_digest(const ScannedSource& source, std::string_view ptx);

// Computes a digest of the bits of all outputs. Used by one thread.
class OutputDigest {
 public:
  // Adds the finished runs, in their order.
  void add(const evaluator::PreparedTask& task, const MachineRuns& runs);
  Value value();

 private:
  files::Digest digest_;
};

}  // namespace krl::cpu
