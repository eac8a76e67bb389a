#include "plugins/backends/cpu/plugin/side_by_side.hpp"

#include <algorithm>

namespace krl::cpu {
using namespace evaluator;
namespace {

// Runs with hold-ups: at least so many, where warps met in few lines, and at most.
constexpr std::size_t kFewestRuns = 6, kMostRuns = 12;

// Returns the case with most encounters, from `begin` on; the first if there are several.
std::optional<std::size_t> busiest_case(const MachineRuns& runs, std::size_t begin) {
  std::map<std::size_t, std::size_t> counts;
  for (const Encounter& encounter : runs.result().encounters) {
    const std::size_t c = runs.runs()[encounter.run].plan.case_index;
    if (c >= begin) ++counts[c];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return std::nullopt;
  return most->first;
}

}  // namespace

void Encounters::add(const MachineRuns& runs, std::size_t cases) {
  if (!other_case_) other_case_ = busiest_case(runs, cases);
  for (const Encounter& encounter : runs.result().encounters) {
    const PlannedRun& plan = runs.runs()[encounter.run].plan;
    if (plan.case_index >= cases && plan.case_index != other_case_) continue;
    Line& line = lines_[encounter.line];
    if (line.runs.empty()) line.place = encounter.place;
    line.runs.push_back(plan);
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
  return "the result depends on which warp or lane is faster where they meet: " + places +
         "; update memory that warps share with one atomic operation, or let them wait for each "
         "other by a lock or a flag, with fences, and lanes of one warp by __syncwarp";
}

}  // namespace krl::cpu
