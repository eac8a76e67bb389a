#include <filesystem>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/policy_options.hpp"
#include "core/episode/cascade_costs.hpp"
#include "core/plugin/session.hpp"
#include "service/kernels/answer_files.hpp"
#include "service/kernels/answer_table.hpp"
#include "service/kernels/tasks.hpp"

namespace krl::cli {
namespace {

void show(const AnswerSummary& summary) {
  if (summary.ended) report(*summary.ended);
  std::vector<std::vector<std::string>> rows = {{"VERDICT", "KERNELS"}};
  std::size_t all = 0;
  for (const auto& [verdict, number] : summary.verdicts) {
    rows.push_back({verdict, std::to_string(number)});
    all += number;
  }
  rows.push_back({"all", std::to_string(all)});
  print("\n" + columns(rows));
  if (!summary.device.empty()) print("device: " + summary.device + "\n");
  print(describe_costs(summary.costs));
  if (!summary.kernelbench.empty()) print(describe_fast_p(summary.kernelbench));
  const std::string claims = columns(summary.claims.rows()) + summary.claims.describe_speedups();
  if (!claims.empty()) print("\n" + claims);
}

// One call to judge several kernels.
struct Call {
  const CommandLine& line;
  const Words& kernels;
  const JudgeOptions& options;
  const std::vector<Task>& tasks;
  Components& components;
};

Result<std::unique_ptr<AnswerEvaluation>> open_evaluation(const Call& call) {
  const std::string output = call.line.text_or("output");
  std::error_code ignored;
  for (const std::string& kernel : call.kernels) {
    if (std::filesystem::equivalent(output, kernel, ignored))
      return invalid("--output " + output + " is what is to be judged; name another file");
  }
  return AnswerEvaluation::open(call.options, output, call.components);
}

Result<AnswerSummary> evaluate(AnswerEvaluation& evaluation,
                               const std::function<std::optional<AnswerToJudge>()>& next) {
  KRL_ASSIGN(AnswerSummary summary,
             evaluation.run(next, [](const std::string& name, const std::string& headline) {
               print(name + ": " + headline + "\n");
             }));
  show(summary);
  return summary;
}

Result<AnswerSummary> evaluate_files(const Call& call) {
  const std::string& first = call.kernels.front();
  KRL_ASSIGN(AnswerFiles files,
             std::filesystem::is_directory(first)
                 ? read_answer_folder(first, call.tasks)
                 : Result<AnswerFiles>(read_answer_files(call.kernels, call.tasks)));
  for (const std::string& warning : files.left_out) print_warning(warning);
  KRL_ASSIGN(const auto evaluation, open_evaluation(call));
  std::size_t next = 0;
  return evaluate(*evaluation, [&]() -> std::optional<AnswerToJudge> {
    if (next == files.answers.size()) return std::nullopt;
    return std::move(files.answers[next++]);
  });
}

Result<AnswerSummary> evaluate_table(const Call& call) {
  KRL_ASSIGN(const auto table,
             AnswerTable::open(call.kernels.front(), call.line.texts("where"), call.tasks,
                               call.components.registry(), print_warning));
  KRL_ASSIGN(const auto evaluation, open_evaluation(call));
  evaluation->judge_once();
  KRL_ASSIGN(AnswerSummary summary, evaluate(*evaluation, [&] { return table->next(); }));
  table->end_warnings();
  return summary;
}

// Files that a call names must be right; of folders and tables any verdict is a result.
Result<int> evaluate_all(const CommandLine& line, const Words& kernels) {
  KRL_ASSIGN(const ChosenJudge chosen, choose_judge(line));
  Session session(chosen.registry, print_warning);
  KRL_ASSIGN(const std::vector<Task> tasks, tasks_named(line.text("task"), session.components()));
  const Call call{line, kernels, chosen.options, tasks, session.components()};
  const bool is_table = AnswerTable::is_table(kernels.front());
  KRL_ASSIGN(const AnswerSummary summary, (is_table ? evaluate_table : evaluate_files)(call));
  if (summary.failed > 0) return kRunFailed;
  const auto right = summary.verdicts.find(std::string(name_of(Verdict::kOk)));
  const bool all_right = right != summary.verdicts.end() && summary.verdicts.size() == 1;
  return all_right || kernels.size() == 1 ? kDone : kNotRight;
}

}  // namespace

int eval_answers(const CommandLine& line, const Words& kernels) {
  return exit_code_of(evaluate_all(line, kernels));
}

}  // namespace krl::cli
