// The runs that check a candidate: inputs, value distributions and orders of threads, spread over
// the cases so that every task sees all of them at the cost of a few runs. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/check/inputs.hpp"

namespace krl::evaluator {

// In which order the machine runs blocks and threads, the last two side by side: see
// runner_protocol.hpp. A GPU has its own.
enum class RunOrder : std::uint8_t { kForward, kReversed, kShuffled, kLockstep, kDrawn };

struct PlannedRun {
  std::size_t case_index = 0;  // into the cases, then the hold-outs
  std::uint64_t seed = 0;      // of the inputs
  Distribution distribution = Distribution::kAsGiven;
  RunOrder order = RunOrder::kForward;
  bool counted = false;         // counters and the estimated time come from this one
  std::uint32_t held_line = 0;  // of kDrawn: after its accesses warps are held up often
  std::uint64_t poison = 0;     // the number of what unwritten memory holds: see poison.hpp

  bool operator==(const PlannedRun&) const = default;
};

// Outputs are checked with inputs that other candidates did not see, so that feedback on one is of
// no use to another; time is counted with inputs that all share, so that it can be compared.
struct RunSeeds {
  std::uint64_t shared = 0, own = 0;
};

// The first run of a case has the values as given, in order, and is counted: its seed comes from
// the shared one, all others from the candidate's own. Further runs have the distributions ×100,
// ×0.01 and of odd halves in turn, and orders reversed and shuffled in turn: `runs_per_case` (at
// least 1) in all, and more where the three would not come up otherwise. A hold-out is run once,
// shuffled. The runs of a case are together.
std::vector<PlannedRun> plan_runs(std::size_t cases, std::size_t holdouts,
                                  std::size_t runs_per_case, const RunSeeds& seeds);

// Gives each run the poison after that of the run before, and repeats with another one the run of a
// case that has no other: what a kernel never writes is then wrong in one of a case's runs.
std::vector<PlannedRun> with_poisons(const std::vector<PlannedRun>& runs);

// A fresh case is run once, shuffled, on inputs that all candidates share, so that what is expected
// there is computed once for a task; they follow from the case's label.
PlannedRun plan_fresh_run(std::size_t case_index, std::string_view label, const RunSeeds& seeds);

}  // namespace krl::evaluator
