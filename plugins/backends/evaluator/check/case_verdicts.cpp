#include "plugins/backends/evaluator/check/case_verdicts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace krl::evaluator {
namespace {

constexpr std::string_view kDistributionNames[kDistributions] = {"",
                                                                 " ×100",
                                                                 " ×0.01",
                                                                 " in odd halves",
                                                                 " of special rows",
                                                                 " around ±100 deviations",
                                                                 " far below 0",
                                                                 " ×2^28",
                                                                 " of small sizes",
                                                                 " of subnormal sizes",
                                                                 " with rare large values"};

}  // namespace

void RunVerdict::add(const ResolvedTensor& output, const Comparison& comparison, Telling telling) {
  max_abs_error = std::max(max_abs_error, comparison.max_abs_error);
  max_rel_error = std::max(max_rel_error, comparison.max_rel_error);
  if (comparison.passed()) return;
  passed = false;
  if (is_secret(output)) max_abs_error = max_rel_error = std::numeric_limits<double>::infinity();
  detail += (detail.empty() ? "" : "; ") + describe(output, comparison, telling);
}

void RunVerdict::add_unwritten(const ResolvedTensor& output, std::int64_t first,
                               std::int64_t count) {
  passed = false;
  const std::string place = output.name + place_text(output, first);
  const std::string others = count == 1 ? " was"
                             : count == 2
                                 ? " and one more element were"
                                 : " and " + std::to_string(count - 1) + " more elements were";
  detail = place + others + " never written" + (detail.empty() ? "" : "; ") + detail;
}

std::vector<Case> untried_cases(const PreparedTask& task, std::size_t count) {
  std::vector<Case> cases(count);
  for (std::size_t c = 0; c < count; ++c) {
    cases[c].label = task.cases[c].label;
    cases[c].kind = task.kind_of(c);
  }
  return cases;
}

std::string named(const Case& c) {
  return c.kind == CaseKind::kFresh ? c.label + " (fresh)" : c.label;
}

void merge(const RunVerdict& run, const PlannedRun& plan, Case* c) {
  c->max_abs_error = std::fmax(c->max_abs_error, run.max_abs_error);
  c->max_rel_error = std::fmax(c->max_rel_error, run.max_rel_error);
  if (run.passed || c->verdict != Verdict::kOk) return;
  c->verdict = Verdict::kWrongResult;
  const auto distribution = kDistributionNames[static_cast<std::size_t>(plan.distribution)];
  c->detail = (distribution.empty() ? "" : "inputs" + std::string(distribution) + ": ");
  c->detail += run.detail;
}

void leave_out(Case* c, Verdict verdict) {
  c->verdict = verdict;
  c->detail = "not run: an earlier case failed";
}

void stop(std::size_t stopped, Verdict verdict, const std::string& why, EvaluationRecord* record) {
  record->fail(verdict, named(record->cases[stopped]) + ": " + why);
  for (std::size_t c = stopped; c < record->cases.size(); ++c) {
    Case& unfinished = record->cases[c];
    if (unfinished.verdict != Verdict::kOk) continue;
    leave_out(&unfinished, verdict);
    if (c == stopped) unfinished.detail = why;
  }
}

}  // namespace krl::evaluator
