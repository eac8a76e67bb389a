#include <array>
#include <cmath>
#include <cstdio>
#include <kernelrl/evaluation_json.hpp>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/loaded_plan.hpp"
#include "cli/tasks.hpp"
#include "core/episode/feedback.hpp"
#include "core/episode/judge.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/active_call.hpp"
#include "core/plugin/components.hpp"

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
    rows.push_back({record.label, std::string(name_of(record.verdict)), speedup.data(), notes});
  }
  return "\n" + columns(rows);
}

// --backend, with the options of --set, and --sanitizer.
Result<Judge> judge_of(const CommandLine& line, Components& components) {
  KRL_ASSIGN(Evaluator backend,
             open_evaluator(line.text("backend"), line.texts("set"), components));
  if (!line.has("sanitizer")) return Judge(std::move(backend));
  KRL_ASSIGN(Evaluator sanitizer, open_evaluator(line.text("sanitizer"), {}, components));
  return Judge(std::move(backend), std::move(sanitizer));
}

struct Request {
  Task task;
  std::string source;
  EvaluateOptions options;
  bool json = false;
};

int evaluate(const Request& request, const Judge& judge) {
  if (const Status good = judge.prepare(request.task, request.options); !good) {
    return report(good.error());
  }
  const auto evaluation = judge.evaluate(request.task, request.source, request.options);
  if (!evaluation) {
    const nlohmann::json failed = {{"verdict", name_of(Verdict::kInfraError)},
                                   {"why", evaluation.error().message}};
    if (request.json) print(failed.dump() + "\n");
    report(evaluation.error());
    return kRunFailed;
  }
  if (request.json) {
    print(to_json_text(*evaluation) + "\n");
  } else {
    print(describe_evaluation({request.source, {}, Format::kExact}, *evaluation));
  }
  return kDone;
}

}  // namespace

std::string describe_evaluation(const Candidate& candidate, const Evaluation& evaluation) {
  return describe_result(candidate, evaluation) + "\n" + note_on_contract(evaluation) +
         table_of_cases(evaluation);
}

int eval_kernel(const CommandLine& line) {
  const auto contract = named<Contract>(line.has("contract") ? line.text("contract") : "device");
  if (!contract) return line.wrong("--contract takes device or host");
  const auto source = read_text_file(line.text("kernel"));
  if (!source) return line.wrong(source.error());
  const auto registry = load_registry(line);
  if (!registry) return report(registry.error());
  const CallScope scope;
  const CallWatch watch(print_warning);
  Components components(*registry, scope);
  auto task = find_task(line.text("task"), components);
  if (!task) return report(task.error());
  const auto judge = judge_of(line, components);
  if (!judge) return report(judge.error());
  Request request{std::move(*task), *source, {}, line.has("json")};
  request.options.contract = *contract;
  if (line.has("holdout")) request.options.stages |= KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;
  return evaluate(request, *judge);
}

}  // namespace krl::cli
