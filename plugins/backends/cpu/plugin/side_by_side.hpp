// Schedules that expose races which usually go unnoticed: where warps met in a run, as reported by
// the machine, the kernel is executed again with its blocks side by side. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cpu/plugin/machine_runs.hpp"

namespace krl::cpu {

// Lines in which warps met, 0 being an unknown one, each with the other accesses and the runs in
// which they met.
class Encounters {
 public:
  // Adds the encounters of the first `cases` cases and, to bound the cost, of one other case: the
  // one in which warps met in most lines.
  void add(const MachineRuns& runs, std::size_t cases);

  // Each case in which warps met, once, in lockstep: that loses every update that is not an atomic
  // one.
  std::vector<evaluator::PlannedRun> in_lockstep() const;
  // Each line, with warps held up after it: a few runs in all, if there are any lines.
  std::vector<evaluator::PlannedRun> with_hold_ups() const;
  // Explains for a kernel whose result depends on them where that happens, and what to do about it.
  std::string description() const;

 private:
  struct Line {
    std::string place;
    std::vector<evaluator::PlannedRun> runs;
  };
  std::map<std::uint32_t, Line> lines_;
  std::optional<std::size_t> other_case_;
};

}  // namespace krl::cpu
