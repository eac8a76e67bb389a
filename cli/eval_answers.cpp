#include <filesystem>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/policy_options.hpp"
#include "core/plugin/session.hpp"
#include "service/kernels/answer_folder.hpp"
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
  if (!summary.kernelbench.empty()) print(describe_fast_p(summary.kernelbench));
  const std::string claims = columns(summary.claims.rows()) + summary.claims.describe_speedups();
  if (!claims.empty()) print("\n" + claims);
}

Result<int> evaluate(AnswerEvaluation& evaluation,
                     const std::function<std::optional<AnswerToJudge>()>& next) {
  KRL_ASSIGN(const AnswerSummary summary,
             evaluation.run(next, [](const std::string& name, const std::string& headline) {
               print(name + ": " + headline + "\n");
             }));
  show(summary);
  return summary.failed == 0 ? kDone : kRunFailed;
}

Result<std::unique_ptr<AnswerEvaluation>> open_evaluation(const CommandLine& line,
                                                          Components& components) {
  std::error_code ignored;
  if (std::filesystem::equivalent(line.text_or("output"), line.text("kernel"), ignored))
    return invalid("--output " + line.text("output") +
                   " is what is to be judged; name another file");
  return AnswerEvaluation::open(judge_options(line), line.text_or("output"), components);
}

Result<int> evaluate_folder(const CommandLine& line, const std::vector<Task>& tasks,
                            Components& components) {
  KRL_ASSIGN(AnswerFolder folder, read_answer_folder(line.text("kernel"), tasks));
  for (const std::string& warning : folder.left_out) print_warning(warning);
  KRL_ASSIGN(const auto evaluation, open_evaluation(line, components));
  std::size_t next = 0;
  return evaluate(*evaluation, [&]() -> std::optional<AnswerToJudge> {
    if (next == folder.answers.size()) return std::nullopt;
    return std::move(folder.answers[next++]);
  });
}

Result<int> evaluate_table(const CommandLine& line, const std::vector<Task>& tasks,
                           Components& components) {
  KRL_ASSIGN(const auto table, AnswerTable::open(line.text("kernel"), line.texts("where"), tasks,
                                                 components.registry(), print_warning));
  KRL_ASSIGN(const auto evaluation, open_evaluation(line, components));
  evaluation->judge_once();
  KRL_ASSIGN(const int code, evaluate(*evaluation, [&] { return table->next(); }));
  table->end_warnings();
  return code;
}

Result<int> evaluate_all(const CommandLine& line) {
  KRL_ASSIGN(const Registry registry, load_registry(line));
  Session session(registry, print_warning);
  KRL_ASSIGN(const std::vector<Task> tasks, tasks_named(line.text("task"), session.components()));
  const bool is_table = AnswerTable::is_table(line.text("kernel"));
  return (is_table ? evaluate_table : evaluate_folder)(line, tasks, session.components());
}

}  // namespace

int eval_answers(const CommandLine& line) { return exit_code_of(evaluate_all(line)); }

}  // namespace krl::cli
