#include "plugins/backends/cpu/plugin/side_by_side.hpp"

namespace krl::cpu {
namespace {

// Runs with hold-ups: at least so many, where warps met in few lines, and at most.
constexpr std::size_t kFewestRuns = 6, kMostRuns = 12;

}  // namespace

void Encounters::add(const MachineRuns& runs, std::size_t cases) {
  for (const Encounter& encounter : runs.result().encounters) {
    if (runs.runs()[encounter.run].plan.case_index >= cases) continue;
    Line& line = lines_[encounter.line];
    if (line.runs.empty()) line.place = encounter.place;
    line.runs.push_back(runs.runs()[encounter.run].plan);
  }
}

std::vector<PlannedRun> Encounters::in_lockstep() const {
  std::map<std::size_t, PlannedRun> first;
  for (const auto& [line, met] : lines_) {
    for (const PlannedRun& run : met.runs) first.emplace(run.case_index, run);
  }
  std::vector<PlannedRun> plan;
  for (auto& [case_index, run] : first) {
    run.order = RunOrder::kLockstep;
    run.counted = false;
    plan.push_back(run);
  }
  return plan;
}

std::vector<PlannedRun> Encounters::with_hold_ups() const {
  std::vector<PlannedRun> plan;
  while (!lines_.empty() && plan.size() < kFewestRuns) {
    for (const auto& [line, met] : lines_) {
      if (plan.size() == kMostRuns) break;
      PlannedRun run = met.runs[plan.size() % met.runs.size()];
      run.order = RunOrder::kDrawn;
      run.counted = false;
      run.held_line = line;
      plan.push_back(run);
    }
  }
  return plan;
}

std::string Encounters::description() const {
  std::string places;
  for (const auto& [line, met] : lines_) {
    places += (places.empty() ? "" : ", ") + met.place;
    if (line != 0) places += " (line " + std::to_string(line) + ")";
  }
  return "the result depends on which warp is faster where they meet: " + places +
         "; update memory that warps share with one atomic operation, or let them wait for each "
         "other by a lock or a flag, with fences";
}

}  // namespace krl::cpu
