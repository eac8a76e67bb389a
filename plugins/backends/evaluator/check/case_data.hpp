// The inputs of a run and its expected outputs: computed once per (task, case, seed, distribution)
// and shared by all candidates. Thread-safe.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/cache/memory_cache.hpp"
#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/fresh_shapes.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/check/protocol.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/oracle/oracle_client.hpp"

namespace krl::evaluator {

// The cases that a backend has time for. kSmall: a task's `cases` are checked and timed. kReal: a
// task that lists sizes of real work is timed at those, and checked at all.
enum class Sizes { kSmall, kReal };

// A task with its cases and hold-outs resolved, read once.
struct PreparedTask {
  TaskDefinition definition;
  std::string digest;               // digest of the definition without its origin
  std::vector<ResolvedCase> cases;  // the shown ones, then the hold-outs, then fresh ones
  std::size_t n_cases = 0;          // shown ones: the small, then the real
  std::size_t n_real = 0;
  std::size_t n_holdouts = 0;
  FreshPool pool;
  Protocol protocol = Protocol::kKernelrl;
  // Shapes at which a candidate is not run, but must be launchable: real sizes that are not among
  // `cases`, then the ends of the ranges.
  std::vector<ResolvedCase> launchable;

  std::size_t n_small() const { return n_cases - n_real; }
  std::size_t n_known() const { return n_cases + n_holdouts; }
  bool is_real(std::size_t case_index) const {
    return case_index >= n_small() && case_index < n_cases;
  }
  CaseKind kind_of(std::size_t case_index) const {
    if (case_index < n_cases) return CaseKind::kShown;
    return case_index < n_known() ? CaseKind::kHoldout : CaseKind::kFresh;
  }
};

// Returns where a task's definition lists a case, as messages begin: "file:line:column" of
// `cases[i]`, `real[i]` or `holdout[i]`, or for a fresh shape of `ranges`.
std::string origin_of(const PreparedTask& task, std::size_t case_index);

// The same with its name: "file:line:column: the case n=7", or "…: the shape n=7 of the ranges".
std::string located(const PreparedTask& task, std::size_t case_index);

// Limit on the tensors of one case together: more would take minutes to fill and compare, seconds
// on a GPU.
inline constexpr std::int64_t kMostCaseBytes = std::int64_t{2} << 30;
inline constexpr std::int64_t kMostRealBytes = std::int64_t{8} << 30;

// Throws Failure(KRL_INVALID_ARGUMENT): with every problem of the definition, one a line; or,
// "file:line:column: …", with the first case that is too large.
PreparedTask prepare_task(std::string_view definition_json, Sizes sizes = Sizes::kSmall);

// The same task with the cases that an evaluation is asked for: the shown ones, the hold-outs if
// `stages` has KRL_STAGE_HOLDOUT, and if it has any stage that checks, fresh ones: the set of the
// pool that follows from `set`, or with KRL_STAGE_POOL all of it.
PreparedTask select_cases(const PreparedTask& task, std::uint32_t stages, std::uint64_t set);

// Tasks by their definition, each prepared once. Thread-safe.
class TaskStore {
 public:
  TaskStore(Sizes sizes, Protocol protocol) : sizes_(sizes), protocol_(protocol) {}

  // Throws as prepare_task does.
  std::shared_ptr<const PreparedTask> get(std::string_view definition_json);

 private:
  const Sizes sizes_;
  const Protocol protocol_;
  MemoryCache<PreparedTask> kept_{64 << 20};
};

struct CaseData {
  std::vector<std::vector<std::byte>> inputs;  // in the task's order
  std::vector<ExpectedOutput> expected;        // one per output, in the task's order

  std::size_t bytes() const;
};

class CaseStore {
 public:
  CaseStore(OracleClient& oracle, std::uint64_t max_bytes) : oracle_(oracle), kept_(max_bytes) {}

  // Throws as OracleClient::expected does.
  std::shared_ptr<const CaseData> get(const PreparedTask& task, const PlannedRun& run);

 private:
  OracleClient& oracle_;
  MemoryCache<CaseData> kept_;
};

}  // namespace krl::evaluator
