// Keeps the outputs of a task's reference on the GPU, and compares runners' memory with them. Used
// by one thread; the session's context is current. References of few elements are computed by
// threads of its own.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "plugins/backends/cuda/worker/device_session.hpp"
#include "plugins/backends/cuda/worker/kept_memory.hpp"
#include "plugins/backends/evaluator/cache/memory_cache.hpp"
#include "plugins/backends/evaluator/oracle/reference.hpp"

namespace krl::gpu {

std::uint64_t elements_of(const evaluator::OracleTensor& tensor);

class OutputCheck {
 public:
  // `memory_bytes`: of expected values and inputs that are kept, at most. They and libtorch's own
  // memory give way to what `kept` makes room for.
  OutputCheck(DeviceSession& session, evaluator::ReferenceDevice device, std::uint64_t memory_bytes,
              KeptMemory& kept);

  void attach(const Attach& attach);
  void detach(const Detach& detach);
  std::vector<CheckResult> check(const std::vector<Check>& checks);
  void stage(const Stage& stage);
  void fetch(const Fetch& fetch);
  // Is the arena of a runner as it was before its candidate came?
  bool is_intact(const Detach& runner);
  // Returns the sum of each output's expected values.
  std::vector<double> sums(const Check& check);
  // Returns how much the check of each output can tell. Puts the outputs where `check` places them,
  // in the session's own arena.
  std::vector<evaluator::OutputTraits> traits(const Check& check);
  // Tells which made-up outputs pass the check. Puts them there, too.
  std::vector<bool> try_impostor(const TryImpostor& impostor);
  std::vector<double> time_reference(const TimeReference& time);

  // The memory of a reference's request: inputs and results.
  struct Expected {
    DeviceMemory memory;
    evaluator::ReferenceProblem problem;
  };
  std::shared_ptr<const Expected> expected(const Check& check);

  // ---- for launches that are checked by the many (launch_output_check.hpp)

  struct Arena {
    ImportedMemory memory;
    std::uint64_t bytes = 0;
    GuardKey guards;
  };
  const Arena& arena(std::uint64_t runner) const { return arenas_.at(runner); }
  // The sets that were fetched last, one after the other.
  CUdeviceptr copies() const { return copies_.get(); }
  // The outputs of a run, wherever its set is; a problem of the reference's comes alone.
  CheckResult check_outputs(const Check& check, CUdeviceptr set);
  // Puts the expected outputs into a set.
  evaluator::ReferenceProblem put_outputs(const Check& check, CUdeviceptr set);
  // Returns for each range of the memory at `base` a number above 0 if it is not as expected.
  std::vector<std::uint64_t> changes(CUdeviceptr base, const std::vector<DeviceRange>& ranges,
                                     const GuardKey& key);

  // Before a candidate's process may take the memory that copies of these need.
  void reserve_copies(std::uint64_t bytes);

 private:
  double time_call(const evaluator::OracleRequest& reference, CUdeviceptr memory);
  using Turn = std::unique_lock<std::mutex>;
  CheckResult checked(const Check& check);
  // Computes the expected values, of several checks at once if that is done on processors.
  void expect(const std::vector<Check>& checks);
  std::shared_ptr<const Expected> expected(const Check& check, evaluator::ReferenceStore& on_cpu);
  evaluator::ReferenceProblem compute(const evaluator::OracleRequest& request, CUdeviceptr memory,
                                      evaluator::ReferenceStore& on_cpu, Turn& turn);
  std::optional<evaluator::ReferenceProblem> compute_on_cpu(const evaluator::OracleRequest& request,
                                                            CUdeviceptr memory,
                                                            evaluator::ReferenceStore& on_cpu,
                                                            Turn& turn);
  // Makes up the outputs of a check, in the session's own arena.
  void make_up(const TryImpostor& impostor, CUdeviceptr inputs);
  std::vector<DeviceReport> reports_of(const Check& check, CUdeviceptr set, CUdeviceptr expected);
  void compare(const Check& check, CUdeviceptr set, CUdeviceptr expected, CheckResult* checked);
  void find_changes(const Check& check, CUdeviceptr set, CUdeviceptr expected,
                    CheckResult* checked);
  std::vector<evaluator::ElementError> first_errors(const Check& check, std::size_t output,
                                                    CUdeviceptr set, CUdeviceptr expected) const;

  DeviceSession& session_;
  KeptMemory& kept_;
  std::mutex turn_;  // serialises the session's use by threads that compute references
  std::optional<evaluator::ReferenceStore> on_gpu_;
  std::array<evaluator::ReferenceStore, 4>
      on_cpu_;  // one for each thread; the first is the caller's
  evaluator::MemoryCache<Expected> expected_;
  std::map<std::uint64_t, Arena> arenas_;
  DeviceMemory copies_;
  std::uint64_t copies_bytes_ = 0;
  CUfunction compare_reals_, compare_integers_, find_changes_, fetch_;
  UploadBuffer reports_, ranges_, changed_, moves_;
};

}  // namespace krl::gpu
