// What a task's reference gives, kept on the GPU, and runners' memory held against it. Used by one
// thread; the session's context is current.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "plugins/backends/cuda/worker/device_session.hpp"
#include "plugins/backends/evaluator/cache/memory_cache.hpp"
#include "plugins/backends/evaluator/oracle/reference.hpp"

namespace krl::gpu {

class Judge {
 public:
  // `memory_bytes`: of expected values and inputs that are kept.
  Judge(DeviceSession& session, ReferenceDevice device, std::uint64_t memory_bytes);

  void attach(const Attach& attach);
  void detach(const Detach& detach);
  CheckResult check(const Check& check);
  // Of each output's expected values.
  std::vector<double> sums(const Check& check);
  // Puts the made-up outputs where the check says, in the session's own arena.
  bool try_impostor(const TryImpostor& impostor);
  std::vector<double> time_reference(const TimeReference& time);

 private:
  // The memory of a reference's request: inputs and results.
  struct Expected {
    DeviceMemory memory;
    ReferenceProblem problem;
  };

  std::shared_ptr<const Expected> expected(const Check& check);
  double time_call(const OracleRequest& reference, CUdeviceptr memory);
  ReferenceProblem compute(const OracleRequest& request, CUdeviceptr memory);
  void compare(const Check& check, CUdeviceptr arena, CUdeviceptr expected, CheckResult* checked);
  void find_changes(const Check& check, CUdeviceptr arena, CUdeviceptr expected,
                    CheckResult* checked);
  std::vector<ElementError> first_errors(const Check& check, std::size_t output, CUdeviceptr arena,
                                         CUdeviceptr expected) const;

  DeviceSession& session_;
  std::optional<ReferenceStore> on_gpu_;
  ReferenceStore on_cpu_;
  MemoryCache<Expected> expected_;
  std::map<std::uint64_t, ImportedMemory> arenas_;
  CUfunction compare_reals_, compare_integers_, find_changes_;
  UploadBuffer reports_, ranges_, changed_;
};

}  // namespace krl::gpu
