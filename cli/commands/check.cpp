#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/base/file_system.hpp"
#include "core/experiment/component_check.hpp"
#include "core/plugin/session.hpp"
#include "core/stage/stage_data.hpp"

namespace krl::cli {
namespace {

// The tasks that are trained on or held out, and how many pairs there are to warm up on; what
// several stages share is listed once.
class TaskList {
 public:
  void add(const StageData& data) {
    for (const Task& task : data.tasks) add(task, "train");
    for (const Holdout& holdout : data.holdouts) {
      for (const Task& task : holdout.tasks) add(task, "holdout/" + holdout.name);
    }
    if (!data.pairs.empty()) pairs_.insert(fmt::format("{} pairs (warmup)\n", data.pairs.size()));
  }

  std::string text() const {
    std::string out = rows_.size() > 1 ? columns(rows_) : std::string();
    for (const std::string& line : pairs_) out += line;
    return out;
  }

 private:
  void add(const Task& task, const std::string& set) {
    if (listed_.insert(set + " " + task.id).second)
      rows_.push_back({task.id, std::to_string(task.tier), set, task.title});
  }

  std::vector<std::vector<std::string>> rows_ = {{"TASK", "TIER", "SET", "TITLE"}};
  std::set<std::string> listed_, pairs_;
};

Status for_each_stage(const Plan& plan, Components& components,
                      const std::function<void(const StageData&)>& use) {
  for (const Settings* settings : plan.in_force()) {
    KRL_ASSIGN(const StageData data, read_datasets(settings->datasets, components));
    use(data);
  }
  return {};
}

Result<std::string> task_list(const Plan& plan, Components& components) {
  TaskList list;
  KRL_TRY(for_each_stage(plan, components, [&](const StageData& data) { list.add(data); }));
  return list.text();
}

// The warm-up pairs as lines of JSON, the earlier answers of each oldest first.
Result<std::string> warm_up_pairs(const Plan& plan, Components& components) {
  std::string lines;
  std::set<std::string> seen;  // stages share datasets
  KRL_TRY(for_each_stage(plan, components, [&](const StageData& data) {
    for (const Pair& pair : data.pairs) {
      const nlohmann::json record = {
          {"task", pair.task.id}, {"earlier", pair.earlier}, {"answer", pair.answer}};
      std::string line = record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      if (seen.insert(line).second) lines += line + "\n";
    }
  }));
  return lines;
}

Status write_pairs(const Plan& plan, Components& components, const std::string& file) {
  KRL_ASSIGN(const std::string pairs, warm_up_pairs(plan, components));
  return write_atomically(real_file_system(), file, pairs);
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
  if (obstacles.machine.empty()) KRL_TRY(check_data(plan, components));
  for (const std::string& note : plan.notes) print(note + "\n");
  for (const Problem& problem : obstacles.learning)
    print(note_at(problem.origin, problem.message + "; `kernelrl eval` takes the plan as it is") +
          "\n");
  print(line.text("plan") + ": no errors\n" + not_asked(plan.policy));
  for (const Error& error : obstacles.machine)
    print("It cannot run on this machine:\n" + error.message);
  if (line.has("pairs")) KRL_TRY(write_pairs(plan, components, line.text("pairs")));
  if (!line.has("tasks")) return kDone;
  KRL_ASSIGN(const std::string tasks, task_list(plan, components));
  print(tasks);
  return kDone;
}

}  // namespace

int check_command(const Words& words) {
  CommandLine line("kernelrl check PLAN [--set KEY=VALUE]… [--tasks] [--pairs FILE]",
                   "Checks a plan and the plugins it names, without running it.\n");
  line.flag("tasks", "also list the plan's tasks");
  line.option("pairs", "FILE", "write its warm-up pairs to this file, as JSON lines");
  add_plan_options(line);
  line.positional({"plan"});
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("plan")) return line.wrong("no plan given: name its file");
  return exit_code_of(check(line));
}

}  // namespace krl::cli
