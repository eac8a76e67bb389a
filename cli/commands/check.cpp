#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/base/file_system.hpp"
#include "core/experiment/component_check.hpp"
#include "core/measure/mechanisms.hpp"
#include "core/plan/json_schema.hpp"
#include "core/plugin/session.hpp"
#include "core/stage/stage_data.hpp"
#include "service/plans/warm_up.hpp"

namespace krl::cli {
namespace {

// The tasks that are trained on or held out, and what the pairs to warm up on show; what several
// stages share is listed once.
class TaskList {
 public:
  void add(const StageData& data, const std::set<Cell>& withheld) {
    for (const Task& task : data.tasks) add(task, "train");
    for (const Holdout& holdout : data.holdouts) {
      for (const Task& task : holdout.tasks) add(task, "holdout/" + holdout.name);
    }
    if (!data.pairs.empty()) pairs_.insert(pair_tables(data, withheld));
  }

  std::string text() const {
    std::string out = rows_.size() > 1 ? columns(rows_) : std::string();
    for (const std::string& table : pairs_) out += table;
    return out;
  }

 private:
  void add(const Task& task, const std::string& set) {
    if (listed_.insert(set + " " + task.id).second)
      rows_.push_back({task.id, std::to_string(task.tier), set, task.title});
  }

  static std::string pair_tables(const StageData& data, const std::set<Cell>& withheld) {
    const std::vector<WarmUpTask> tasks = warm_up_tasks(data);
    std::vector<std::vector<std::string>> rows = {
        {"WARM-UP", "PAIRS", "KERNELS", "STRUCTURES", "COMMONEST", "ENTROPY"}};
    for (const WarmUpTask& task : tasks) {
      rows.push_back({task.id, std::to_string(task.pairs), std::to_string(task.kernels),
                      std::to_string(task.structures), fmt::format("{:.2f}", task.commonest),
                      fmt::format("{:.1f}", task.entropy)});
    }
    return fmt::format("{} pairs (warmup)\n", data.pairs.size()) + columns(rows) +
           matrix(tasks, withheld);
  }

  // How many pairs of each task show what; nothing if no pair says it.
  static std::string matrix(const std::vector<WarmUpTask>& tasks, const std::set<Cell>& withheld) {
    std::set<std::string> words;
    for (const WarmUpTask& task : tasks)
      for (const auto& [word, pairs] : task.shown) words.insert(word);
    if (words.empty()) return {};
    std::vector<std::vector<std::string>> rows = {{"PAIRS THAT SHOW"}};
    rows.front().insert(rows.front().end(), words.begin(), words.end());
    for (const WarmUpTask& task : tasks) {
      if (task.shown.empty()) continue;
      rows.push_back({task.id});
      for (const std::string& word : words) {
        const auto shown = task.shown.find(word);
        const bool is_withheld = withheld.contains({task.id, word});
        rows.back().push_back(shown != task.shown.end() ? std::to_string(shown->second)
                              : is_withheld             ? "withheld"
                                                        : "-");
      }
    }
    return "\n" + columns(rows);
  }

  std::vector<std::vector<std::string>> rows_ = {{"TASK", "TIER", "SET", "TITLE"}};
  std::set<std::string> listed_, pairs_;
};

std::string task_list(const Plan& plan, const std::vector<StageData>& stages) {
  TaskList list;
  for (std::size_t i = 0; i < stages.size(); ++i)
    list.add(stages[i], withheld_cells(plan.in_force()[i]->datasets));
  return list.text();
}

// Names the tasks of which no pair of supervision can be as fast as the baseline, for want of
// threads.
std::set<std::string> notes_on_pairs(const Plan& plan, const std::vector<StageData>& stages) {
  std::set<std::string> notes;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (plan.stages[i].kind != StageKind::kSft) continue;
    for (const WarmUpTask& task : warm_up_tasks(stages[i])) {
      if (!task.excludes_naive()) continue;
      notes.insert(fmt::format(
          "note: the blocks of the warm-up pairs of '{}' have at most {} threads, fewer "
          "than the {} of its naive kernel: perhaps none is as fast\n",
          task.id, task.largest_block, task.naive_block));
    }
  }
  return notes;
}

// The warm-up pairs as lines of JSON, the earlier answers of each oldest first.
std::string warm_up_pairs(const std::vector<StageData>& stages) {
  std::string lines;
  std::set<std::string> seen;  // stages share datasets
  for (const StageData& data : stages) {
    for (const Pair& pair : data.pairs) {
      const nlohmann::json record = {
          {"task", pair.task.id}, {"earlier", pair.earlier}, {"answer", pair.answer}};
      std::string line = record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      if (seen.insert(line).second) lines += line + "\n";
    }
  }
  return lines;
}

// Says which servers of policies were not asked, and how to ask them.
std::string not_asked(const PolicySettings& policy) {
  std::string text;
  for (const ComponentSettings* part :
       {static_cast<const ComponentSettings*>(&policy), policy.sampler ? &*policy.sampler : nullptr,
        policy.reference ? &*policy.reference : nullptr}) {
    if (part == nullptr || !part->options.contains("base_url")) continue;
    const std::string url = part->options["base_url"];
    text += fmt::format(
        "the server of policy '{0}' was not asked: kernelrl doctor {0} --set base_url={1}\n",
        part->use, url.empty() ? "…" : url);
  }
  return text;
}

Result<int> check(const CommandLine& line) {
  KRL_ASSIGN(const LoadedPlan loaded, load_plan_of(line.text("plan"), line));
  const Plan& plan = loaded.plan;
  Session session(loaded.registry, print_warning);
  Components& components = session.components();
  KRL_ASSIGN(const Obstacles obstacles, check_components(plan, components));
  const bool lists = line.has("pairs") || line.has("tasks");
  std::vector<StageData> stages;
  if (lists || obstacles.machine.empty()) {
    KRL_ASSIGN(stages, check_data(plan, components));
    for (const std::string& note : notes_on_pairs(plan, stages)) print(note);
  }
  for (const std::string& note : plan.notes) print(note + "\n");
  for (const Problem& problem : obstacles.learning)
    print(note_at(problem.origin, problem.message + "; `kernelrl eval` takes the plan as it is") +
          "\n");
  print(line.text("plan") + ": no errors\n" + not_asked(plan.policy));
  for (const Error& error : obstacles.machine)
    print("It cannot run on this machine:\n" + error.message);
  if (line.has("pairs")) {
    KRL_TRY(write_atomically(real_file_system(), line.text("pairs"), warm_up_pairs(stages)));
  }
  if (line.has("tasks")) print(task_list(plan, stages));
  return kDone;
}

Result<int> print_schema(const CommandLine& line) {
  KRL_ASSIGN(const Registry registry, load_registry(line));
  print(json_schema(registry.catalog()).dump(1) + "\n");
  return kDone;
}

}  // namespace

int check_command(const Words& words) {
  CommandLine line(
      "kernelrl check PLAN [--set KEY=VALUE]… [--tasks] [--pairs FILE]\n       kernelrl check --schema",
      "Checks a plan and the plugins it names, without running it.\n");
  line.flag("schema",
            "print the JSON Schema of plans, with the options of all plugins, for an editor");
  line.flag("tasks", "also list the plan's tasks, and how much its warm-up pairs of each differ");
  line.option("pairs", "FILE", "write its warm-up pairs to this file, as JSON lines");
  add_plan_options(line);
  line.positional({"plan"});
  if (const auto over = line.parse(words)) return *over;
  if (line.has("schema")) return exit_code_of(print_schema(line));
  if (!line.has("plan")) return line.wrong("no plan given: name its file");
  return exit_code_of(check(line));
}

}  // namespace krl::cli
