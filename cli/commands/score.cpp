#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/base/text.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/session.hpp"
#include "service/kernels/tasks.hpp"
#include "service/runs/definition_files.hpp"
#include "service/runs/rescoring.hpp"
#include "service/runs/runs.hpp"

namespace krl::cli {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

const char* name_of(RewardWhen when) {
  switch (when) {
    case RewardWhen::kAlways:
      return "always";
    case RewardWhen::kCompiled:
      return "compiled";
    case RewardWhen::kPassed:
      return "passed";
  }
  return "";
}

CallScope scope_of(const Plan& plan) {
  static const std::atomic<bool> never{false};  // Ctrl-C ends the command
  return call_scope(plan.run, never);
}

std::string number(double value) { return fmt::format("{:.4f}", value); }

int show_kernel_as_json(const std::vector<RewardTerm>& terms, const ScoredTurn& turn) {
  Json values = Json::array();
  for (std::size_t i = 0; i < std::min(terms.size(), turn.score.terms.size()); ++i) {
    values.push_back({{"name", terms[i].name},
                      {"when", name_of(terms[i].when)},
                      {"value", turn.score.terms[i]},
                      {"weight", terms[i].weight}});
  }
  print_json({{"task", turn.task},
              {"verdict", krl::name_of(turn.verdict)},
              {"why", turn.why},
              {"terms", std::move(values)},
              {"total", turn.score.total},
              {"lost", turn.score.lost}});
  return turn.score.lost.empty() ? kDone : kRunFailed;
}

int show_kernel(const std::vector<RewardTerm>& terms, const ScoredTurn& turn) {
  const std::string why = turn.why.empty() ? "" : ": " + turn.why;
  const std::string verdict = std::string(krl::name_of(turn.verdict)) + why;
  if (!turn.score.lost.empty()) {
    print(fmt::format("{}: {}\n", turn.task, verdict));
    print_error("kernelrl: error: not scored: " + turn.score.lost + "\n");
    return kRunFailed;
  }
  Rows rows = {{"TERM", "WHEN", "VALUE", "WEIGHT", "SCORE"}};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double value = turn.score.terms[i];
    rows.push_back({terms[i].name, name_of(terms[i].when), number(value), number(terms[i].weight),
                    number(value * terms[i].weight)});
  }
  print(fmt::format("{}: {}\n{}total  {}\n", turn.task, verdict, columns(rows),
                    number(turn.score.total)));
  return kDone;
}

// The values of a term, or of the sum, in the run and now.
class Compared {
 public:
  void add(double now, const double* then) {
    ++count_;
    now_ += now;
    least_ = std::min(least_, now);
    most_ = std::max(most_, now);
    if (then == nullptr) return;
    ++recorded_;
    then_ += *then;
    changed_ += std::abs(now - *then) > 1e-9 * std::max(1.0, std::abs(now)) ? 1 : 0;
  }

  // Means; null of what there is nothing of.
  Json json() const {
    const auto mean = [](double sum, std::size_t n) {
      return n == 0 ? Json() : Json(sum / static_cast<double>(n));
    };
    return {{"answers", count_},
            {"recorded", mean(then_, recorded_)},
            {"now", mean(now_, count_)},
            {"least", count_ == 0 ? Json() : Json(least_)},
            {"most", count_ == 0 ? Json() : Json(most_)},
            {"changed", changed_}};
  }

  std::vector<std::string> row(const std::string& name) const {
    if (count_ == 0) return {name, "-", "-", "-", "-", "-"};
    const auto n = static_cast<double>(count_);
    const auto m = static_cast<double>(std::max<std::size_t>(recorded_, 1));
    const bool was = recorded_ > 0;
    return {name,          was ? number(then_ / m) : "-",       number(now_ / n), number(least_),
            number(most_), was ? std::to_string(changed_) : "-"};
  }

 private:
  std::size_t count_ = 0, recorded_ = 0, changed_ = 0;
  double now_ = 0, then_ = 0, least_ = HUGE_VAL, most_ = -HUGE_VAL;
};

struct Summary {
  std::vector<Compared> terms;
  Compared total;
  std::map<std::string, Compared> by_verdict;
  std::size_t answers = 0, lost = 0;
  std::string first_lost;

  void add(const ScoredTurn& turn, const std::vector<RewardTerm>& names) {
    terms.resize(names.size());
    ++answers;
    if (!turn.score.lost.empty()) {
      if (lost++ == 0) first_lost = turn.score.lost;
      return;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto then = turn.recorded_terms.find(names[i].name);
      terms[i].add(turn.score.terms[i],
                   then == turn.recorded_terms.end() ? nullptr : &then->second);
    }
    total.add(turn.score.total, &turn.recorded);
    by_verdict[std::string(krl::name_of(turn.verdict))].add(turn.score.total, &turn.recorded);
  }

  void show_as_json(const std::vector<RewardTerm>& names) const {
    Json of_terms, of_verdicts;
    for (std::size_t i = 0; i < terms.size(); ++i) of_terms[names[i].name] = terms[i].json();
    for (const auto& [verdict, of] : by_verdict) of_verdicts[verdict] = of.json();
    print_json({{"answers", answers},
                {"lost", lost},
                {"first_lost", first_lost},
                {"terms", std::move(of_terms)},
                {"score", total.json()},
                {"score_by_verdict", std::move(of_verdicts)}});
  }

  void show(const std::vector<RewardTerm>& names) const {
    Rows rows = {{"TERM", "RECORDED", "NOW", "LEAST", "MOST", "CHANGED"}};
    for (std::size_t i = 0; i < terms.size(); ++i) rows.push_back(terms[i].row(names[i].name));
    rows.push_back(total.row("score"));
    for (const auto& [verdict, of] : by_verdict) rows.push_back(of.row("score, " + verdict));
    print(fmt::format("{} answers; means\n{}", answers, columns(rows)));
    if (lost > 0) print_error(fmt::format("{} were not scored: {}\n", lost, first_lost));
  }
};

// A task of the plan, or else one that is found by its file or among the built-in ones.
Result<Task> task_of(const std::string& name, const Plan& plan, Components& components) {
  KRL_ASSIGN(std::vector<Task> tasks, tasks_of_plan(plan, components));
  const auto named = std::ranges::find(tasks, name, &Task::id);
  if (named != tasks.end()) return std::move(*named);
  return find_task(name, components);
}

Result<int> score_file(const CommandLine& line) {
  const std::string file = line.text("kernel");
  const auto source = read_text_file(file);
  if (!source) return invalid(source.error());
  KRL_ASSIGN(const LoadedPlan loaded, load_plan_of(line.text("plan"), line));
  Session session(loaded.registry, print_warning, scope_of(loaded.plan));
  KRL_ASSIGN(const Task task, task_of(line.text("task"), loaded.plan, session.components()));
  KRL_ASSIGN(
      const Rescoring rescoring,
      Rescoring::open(*loaded.plan.in_force().back(), loaded.plan.run.seed, session.components()));
  KRL_ASSIGN(const ScoredTurn turn, rescoring.score(task, *source));
  return line.has("json") ? show_kernel_as_json(rescoring.terms(), turn)
                          : show_kernel(rescoring.terms(), turn);
}

Result<int> score_run(const CommandLine& line) {
  KRL_ASSIGN(const RunInfo run, find_run(line.text("directory"), line.text("run")));
  const RunLayout layout{run.directory};
  KRL_ASSIGN(const LoadedPlan loaded,
             load_plan_of(line.has("plan") ? line.text("plan") : layout.plan().string(), line));
  Session session(loaded.registry, print_warning, scope_of(loaded.plan));
  KRL_ASSIGN(const std::vector<Task> tasks, tasks_of_plan(loaded.plan, session.components()));
  // The seed of the run's inputs is part of what its ledger knows an evaluation by.
  KRL_ASSIGN(const LoadedPlan own, service::load_plan_of(layout.plan(), PlanOptions()));
  KRL_ASSIGN(const Rescoring rescoring, Rescoring::open(*loaded.plan.in_force().back(),
                                                        own.plan.run.seed, session.components()));
  Summary summary;
  KRL_TRY(rescoring.score(layout, tasks,
                          [&](const ScoredTurn& turn) { summary.add(turn, rescoring.terms()); }));
  if (summary.answers == 0) return invalid(run.name + " kept no answers to these tasks");
  line.has("json") ? summary.show_as_json(rescoring.terms()) : summary.show(rescoring.terms());
  return summary.lost == 0 ? kDone : kRunFailed;
}

}  // namespace

int score_command(const Words& words) {
  CommandLine line(
      "kernelrl score --plan PLAN --task TASK KERNEL.cu\n       kernelrl score --run NAME [--plan PLAN]",
      "Tries rewards. KERNEL.cu: judges the kernel and shows what each term of the plan's rewards gives\n"
      "it. --run: scores every answer that a run kept, by the rewards of its own plan or of another, and\n"
      "compares with the scores that it had.\n");
  line.option("plan", "PLAN", "the plan with the rewards and the backend");
  line.option("task", "TASK", "the task of the kernel: one of the plan's, or a file");
  line.option("run", "NAME", "a run, or its folder");
  line.option("directory", "DIR", "folder of the runs", "runs");
  line.flag("json", "print one JSON object");
  add_plan_options(line);
  line.positional({"kernel"});
  if (const auto over = line.parse(words)) return *over;
  if (line.has("run") == line.has("kernel"))
    return line.wrong("name a kernel's file, or a run with --run");
  if (line.has("run") && line.has("task"))
    return line.wrong("--task is of a kernel; a run is scored with all of its tasks");
  if (line.has("kernel") && !line.has("plan"))
    return line.wrong("--plan is missing: whose rewards should be tried?");
  if (line.has("kernel") && !line.has("task"))
    return line.wrong("--task is missing: what should the kernel compute?");
  return exit_code_of(line.has("run") ? score_run(line) : score_file(line));
}

}  // namespace krl::cli
