#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <iterator>
#include <kernelrl/evaluation_json.hpp>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/policy_options.hpp"
#include "core/base/file_system.hpp"
#include "core/episode/cascade_costs.hpp"
#include "core/episode/feedback.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/session.hpp"
#include "service/export/verifier_reward.hpp"
#include "service/kernels/evaluation_request.hpp"

namespace krl::cli {
namespace {

std::string read_input() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

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
  const std::string limits = describe_limits(evaluation);
  return fmt::format("\ndevice: {}\n", device) + (limits.empty() ? "" : "limits: " + limits + "\n");
}

std::string costs(const Evaluation& evaluation) {
  Metrics sums;
  add_costs(evaluation, sums);
  return describe_costs(sums);
}

int show(const JudgedKernel& judged, const std::string& source, const std::string& device,
         bool json) {
  const Evaluation& evaluation = judged.evaluation;
  if (json) {
    print((judged.kernelbench ? to_json(judged).dump() : to_json_text(evaluation)) + "\n");
  } else {
    print(describe_evaluation({source, {}, Format::kExact}, evaluation) +
          conditions(evaluation, device) + costs(evaluation) +
          (judged.kernelbench ? "\n" + describe(*judged.kernelbench) : ""));
  }
  return evaluation.passed() ? kDone : kNotRight;
}

// An evaluation that the infrastructure failed is an evaluation all the same for readers of JSON.
int show_failed(const Error& error, bool json) {
  const nlohmann::json failed = {{"verdict", name_of(Verdict::kInfraError)},
                                 {"why", error.message}};
  if (json) print(failed.dump() + "\n");
  report(error);
  return kRunFailed;
}

Result<int> judge_file(const CommandLine& line, const std::string& file, const TaskFinder& find) {
  const auto source = read_text_file(file);
  if (!source) return invalid(source.error());
  KRL_ASSIGN(const ChosenJudge chosen, choose_judge(line));
  Session session(chosen.registry, print_warning);
  KRL_ASSIGN(const Task task, find(session.components()));
  KRL_ASSIGN(KernelJudges judges, KernelJudges::open(chosen.options, session.components()));
  KRL_TRY(judges.prepare(task, judges.options()));
  const auto judged = judges.judge(task, *source, judges.options());
  if (!judged) return show_failed(judged.error(), line.has("json"));
  if (line.has("reward")) {
    KRL_TRY(write_atomically(real_file_system(), line.text("reward"),
                             verifier_reward(judged->evaluation), Durability::kFast));
  }
  return show(*judged, *source, judges.device(), line.has("json"));
}

Result<int> judge_request(const CommandLine& line) {
  const auto text = line.text("request") == "-" ? Result<std::string>(read_input())
                                                : read_file(line.text("request"));
  if (!text) return failure(text.error());
  KRL_ASSIGN(const EvaluationRequest request, parse_evaluation_request(*text));
  KRL_ASSIGN(const ChosenJudge chosen, choose_judge(line));
  Session session(chosen.registry, print_warning);
  KRL_ASSIGN(KernelJudges judges, KernelJudges::open(chosen.options, session.components()));
  const auto judged = judge(request, judges, session.components(), session.scope());
  if (!judged && exit_code_of(judged.error()) == kWrongCall) return failure(judged.error());
  if (!judged) return show_failed(judged.error(), true);
  return show(*judged, request.source, judges.device(), true);
}

}  // namespace

std::string describe_evaluation(const Candidate& candidate, const Evaluation& evaluation) {
  return describe_result(candidate, evaluation) + "\n" + note_on_contract(evaluation) +
         table_of_cases(evaluation);
}

Result<ChosenJudge> choose_judge(const CommandLine& line) {
  ChosenJudge chosen{{}, {{}, line.text_or("protocol"), {}, line.has("holdout")}};
  if (line.has("plan")) {
    KRL_ASSIGN(ChosenPolicy of_plan, choose_policy(line));
    show_notes(of_plan);
    chosen.options.backend = of_plan.settings().backend;
    chosen.options.contract = of_plan.settings().rollout.contract;
    chosen.registry = std::move(of_plan.loaded.registry);
  } else {
    KRL_ASSIGN(chosen.registry, load_registry(line));
    KRL_ASSIGN(chosen.options.backend,
               backend_settings(line.text("backend"), line.texts("set"), line.texts("before"),
                                line.text_or("sanitizer"), chosen.registry));
  }
  if (line.has("contract")) chosen.options.contract = named<Contract>(line.text("contract"));
  return chosen;
}

int eval_kernel(const CommandLine& line, const std::string& file, const TaskFinder& find) {
  return exit_code_of(judge_file(line, file, find));
}

int eval_request(const CommandLine& line) { return exit_code_of(judge_request(line)); }

}  // namespace krl::cli
