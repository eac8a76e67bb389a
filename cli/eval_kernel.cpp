#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <kernelrl/evaluation_json.hpp>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/policy_options.hpp"
#include "core/episode/feedback.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/session.hpp"
#include "service/kernels/kernel_judges.hpp"
#include "service/kernels/tasks.hpp"

namespace krl::cli {
namespace {

// Empty for the contract that needs no word.
std::string note_on_contract(const Evaluation& evaluation) {
  if (evaluation.contract != Contract::kHost) return {};
  return "contract: host (the candidate's own host code ran, so this result is less trustworthy)\n";
}

std::string_view note_on(CaseKind kind) {
  if (kind == CaseKind::kShown) return {};
  return kind == CaseKind::kHoldout ? "hold-out" : "fresh";
}

std::string table_of_cases(const Evaluation& evaluation) {
  if (evaluation.cases.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"CASE", "VERDICT", "TIME", "SPEEDUP", ""}};
  for (const Case& record : evaluation.cases) {
    const bool timed = std::isfinite(record.time_ns);
    const std::string time = timed ? fmt::format("{:.1f} us", record.time_ns / 1000) : "-";
    const std::string speedup =
        std::isfinite(record.speedup) ? fmt::format("{:.2f}", record.speedup) : "-";
    std::string notes = timed && record.estimated ? "estimated" : "";
    if (const std::string_view kind = note_on(record.kind); !kind.empty()) {
      notes += (notes.empty() ? "" : ", ") + std::string(kind);
    }
    const bool may_be_left_out = record.kind == CaseKind::kFresh && record.verdict == Verdict::kOk;
    if (may_be_left_out && !record.detail.empty()) notes += ", " + record.detail;
    rows.push_back({record.label, std::string(name_of(record.verdict)), time, speedup, notes});
  }
  return "\n" + columns(rows);
}

// Describes the conditions of the times and the verdict: "emulated Jetson Orin Nano; bounds:
// latency 62 %, dram 20 %".
std::string conditions(const Evaluation& evaluation, const std::string& device) {
  if (!evaluation.passed()) return {};
  if (evaluation.cases.empty()) return "compiled, not run\n";
  std::vector<std::pair<double, std::string>> shares;
  constexpr std::string_view kShare = "share_";
  for (const Value& value : evaluation.values) {
    if (value.name.starts_with(kShare) && value.case_index == 0 && value.value >= 0.05)
      shares.emplace_back(value.value, value.name.substr(kShare.size()));
  }
  std::sort(shares.rbegin(), shares.rend());
  std::vector<std::string> texts;
  for (const auto& [share, name] : shares)
    texts.push_back(fmt::format("{} {:.0f} %", name, 100 * share));
  return fmt::format("\ndevice: {}\n", device) +
         (texts.empty() ? "" : fmt::format("limits: {}\n", fmt::join(texts, ", ")));
}

int evaluate(const Task& task, const std::string& source, KernelJudges& judges, bool json) {
  if (const Status good = judges.prepare(task, judges.options()); !good)
    return report(good.error());
  const auto judged = judges.judge(task, source, judges.options());
  if (!judged) {
    const nlohmann::json failed = {{"verdict", name_of(Verdict::kInfraError)},
                                   {"why", judged.error().message}};
    if (json) print(failed.dump() + "\n");
    report(judged.error());
    return kRunFailed;
  }
  if (!json) {
    print(describe_evaluation({source, {}, Format::kExact}, judged->evaluation) +
          conditions(judged->evaluation, judges.device()) +
          (judged->kernelbench ? "\n" + describe(*judged->kernelbench) : ""));
  } else if (judged->kernelbench) {
    print(to_json(*judged).dump() + "\n");
  } else {
    print(to_json_text(judged->evaluation) + "\n");
  }
  return judged->evaluation.passed() ? kDone : kNotRight;
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
  auto judges = KernelJudges::open(judge_options(line), components);
  if (!judges) return report(judges.error());
  return evaluate(*task, *source, *judges, line.has("json"));
}

}  // namespace krl::cli
