#include <algorithm>
#include <iterator>
#include <kernelrl/spelling.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/plugin/session.hpp"
#include "service/export/task_export.hpp"
#include "service/kernels/tasks.hpp"

namespace krl::cli {
namespace {

Result<std::vector<Task>> tasks_to_export(const CommandLine& line, Components& components) {
  if (!line.has("tasks")) return built_in_tasks(components);
  std::vector<Task> tasks;
  for (const std::string& name : line.texts("tasks")) {
    KRL_ASSIGN(std::vector<Task> named, tasks_named(name, components));
    tasks.insert(tasks.end(), std::move_iterator(named.begin()), std::move_iterator(named.end()));
  }
  return tasks;
}

Result<int> write_tasks(const CommandLine& line) {
  KRL_ASSIGN(const Registry registry, load_registry(line));
  Session session(registry, print_warning);
  KRL_ASSIGN(const std::vector<Task> tasks, tasks_to_export(line, session.components()));
  KRL_TRY(export_tasks(tasks, line.text("format"), line.text("folder")));
  print(line.text("folder") + ": " + std::to_string(tasks.size()) +
        (tasks.size() == 1 ? " task" : " tasks") + "; image/Dockerfile tells what they need\n");
  return kDone;
}

}  // namespace

int tasks_export_command(const Words& words) {
  CommandLine line(
      "kernelrl tasks export --format F FOLDER [TASK]…",
      "Writes tasks as other projects' agents and trainers read them, with a recipe for a container\n"
      "that judges them on `cpu`. TASK: an id, a file or a folder; without one, the built-in tasks.\n"
      "\n"
      "harbor    a folder for each task: instruction, containers, verifier, solution\n"
      "nemo-gym  a row for each task in kernelrl.jsonl\n"
      "openenv   an environment of all of them\n");
  line.option("format", "F", "harbor, nemo-gym or openenv");
  add_plugin_path_option(line);
  line.positional({"folder"});
  line.rest("tasks");
  if (const auto over = line.parse(words)) return *over;
  const std::string format = line.text_or("format");
  const auto& known = export_formats();
  if (std::find(known.begin(), known.end(), format) == known.end()) {
    return line.wrong((format.empty() ? "no --format given" : "unknown format '" + format + "'") +
                      did_you_mean(format, known));
  }
  if (!line.has("folder")) return line.wrong("no folder given");
  return exit_code_of(write_tasks(line));
}

}  // namespace krl::cli
