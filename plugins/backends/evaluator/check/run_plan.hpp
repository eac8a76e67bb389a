// The runs that check a candidate: inputs, value distributions and orders of threads, spread over
// the cases so that every evaluation sees all of them at the cost of a few runs. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/check/inputs.hpp"

namespace krl::evaluator {

// The order in which the machine runs blocks and threads; the last two run them concurrently (see
// machine_protocol.hpp). A GPU has its own order.
enum class RunOrder : std::uint8_t { kForward, kReversed, kShuffled, kLockstep, kDrawn };

struct PlannedRun {
  std::size_t case_index = 0;  // index into the cases, followed by the hold-outs
  std::uint64_t seed = 0;      // seed of the inputs
  Distribution distribution = Distribution::kAsGiven;
  RunOrder order = RunOrder::kForward;
  bool counted = false;         // counters and the estimated time come from this one
  std::uint32_t held_line = 0;  // for kDrawn: warps are often held up after accesses of this line
  std::uint64_t change = 0;     // on a GPU: how the inputs of the seed are changed, see krl_change
  std::uint64_t poison = 0;     // the number of what unwritten memory holds: see poison.hpp

  bool operator==(const PlannedRun&) const = default;
};

// The seeds from which an evaluation draws. `own` is one of a few sets, chosen by the candidate;
// draws that are expensive to compute use `shared`, which is the same for all candidates.
struct RunSeeds {
  std::uint64_t shared = 0, own = 0;
};

// The runs from which counters and times come: each case as given, in order, on inputs of `seed`.
std::vector<PlannedRun> plan_counted(std::size_t cases, std::uint64_t seed);

// Plans the counted runs and others that are only checked: `runs_per_case` (at least 1) in all, at
// least kLeastChecked, most of them for the last case, which is usually the largest; and one run of
// each hold-out. All derive from the candidate's own seed: the order is drawn, and the
// distributions are dealt like cards. The runs of a case are consecutive.
inline constexpr std::size_t kLeastChecked = 3;
std::vector<PlannedRun> plan_runs(std::size_t cases, std::size_t holdouts,
                                  std::size_t runs_per_case, const RunSeeds& seeds);

// A fresh shape of the task.
struct FreshShape {
  std::size_t case_index = 0;
  std::string_view label;
  std::int64_t elements = 0, outputs = 0;  // elements of all tensors, and of the outputs alone

  // True if a run is cheap, or has few outputs for its work, each of which may reveal an error.
  bool is_run_twice() const {
    return elements <= 1 << 12 || (outputs <= 1 << 6 && elements <= 1 << 15);
  }
};

// Plans one or two runs of each shape, in their order. Distributions continue after the `dealt`
// ones of plan_runs, to the largest shapes first, so that no distribution meets only small shapes.
// Inputs follow from shape and distribution, so that a task's expected values are computed once.
std::vector<PlannedRun> plan_fresh(std::span<const FreshShape> shapes, std::size_t dealt,
                                   const RunSeeds& seeds);

// Plans a run with another distribution than as given: three times in four exact values, which
// alone show that one of many terms is missing, with rare large ones, which show if only a sample
// decides.
PlannedRun plan_at_real_size(const PlannedRun& as_given, const RunSeeds& seeds);

// Gives each run the poison after that of the run before, and repeats with another one the single
// run of a case that `is_cheap`: memory that a kernel never writes is then wrong in one of its
// runs.
std::vector<PlannedRun> with_poisons(const std::vector<PlannedRun>& runs,
                                     const std::function<bool(std::size_t case_index)>& is_cheap);

}  // namespace krl::evaluator
