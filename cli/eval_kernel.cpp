#include <array>
#include <cmath>
#include <cstdio>
#include <kernelrl/evaluation_json.hpp>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/kernel_judges.hpp"
#include "cli/loaded_plan.hpp"
#include "cli/tasks.hpp"
#include "core/episode/feedback.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/session.hpp"

namespace krl::cli {
namespace {

// Empty for the contract that needs no word.
std::string note_on_contract(const Evaluation& evaluation) {
  if (evaluation.contract != Contract::kHost) return {};
  return "contract: host (the candidate's own host code ran, so this result is less trustworthy)\n";
}

std::string_view note_on(CaseKind kind) {
  if (kind == CaseKind::kShown) return {};
  return kind == CaseKind::kHoldout ? "hold-out" : "not shown";
}

std::string table_of_cases(const Evaluation& evaluation) {
  if (evaluation.cases.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"CASE", "VERDICT", "SPEEDUP", ""}};
  for (const Case& record : evaluation.cases) {
    std::array<char, 32> speedup = {"-"};
    if (std::isfinite(record.speedup)) {
      std::snprintf(speedup.data(), speedup.size(), "%.2f", record.speedup);
    }
    std::string notes = record.estimated ? "estimated" : "";
    if (const std::string_view kind = note_on(record.kind); !kind.empty()) {
      notes += (notes.empty() ? "" : ", ") + std::string(kind);
    }
    const bool may_be_left_out = record.kind == CaseKind::kFresh && record.verdict == Verdict::kOk;
    if (may_be_left_out && !record.detail.empty()) notes += ", " + record.detail;
    rows.push_back({record.label, std::string(name_of(record.verdict)), speedup.data(), notes});
  }
  return "\n" + columns(rows);
}

int evaluate(const Task& task, const std::string& source, KernelJudges& judges, bool json) {
  if (const Status good = judges.prepare(task); !good) return report(good.error());
  const auto judged = judges.judge(task, source);
  if (!judged) {
    const nlohmann::json failed = {{"verdict", name_of(Verdict::kInfraError)},
                                   {"why", judged.error().message}};
    if (json) print(failed.dump() + "\n");
    report(judged.error());
    return kRunFailed;
  }
  if (!json) {
    print(describe_evaluation({source, {}, Format::kExact}, judged->evaluation) +
          (judged->kernelbench ? "\n" + describe(*judged->kernelbench) : ""));
  } else if (judged->kernelbench) {
    print(to_json(*judged).dump() + "\n");
  } else {
    print(to_json_text(judged->evaluation) + "\n");
  }
  return kDone;
}

}  // namespace

std::string describe_evaluation(const Candidate& candidate, const Evaluation& evaluation) {
  return describe_result(candidate, evaluation) + "\n" + note_on_contract(evaluation) +
         table_of_cases(evaluation);
}

int eval_kernel(const CommandLine& line) {
  const auto source = read_text_file(line.text("kernel"));
  if (!source) return line.wrong(source.error());
  const auto registry = load_registry(line);
  if (!registry) return report(registry.error());
  Session session(*registry, print_warning);
  Components& components = session.components();
  const auto task = find_task(line.text("task"), components);
  if (!task) return report(task.error());
  auto judges = KernelJudges::open(line, components);
  if (!judges) return report(judges.error());
  return evaluate(*task, *source, *judges, line.has("json"));
}

}  // namespace krl::cli
