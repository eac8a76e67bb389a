#include "cli/policy_options.hpp"

#include "cli/console.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

Result<std::vector<fs::path>> plugin_paths(const CommandLine& line) {
  const Words paths = line.texts("plugin-path");
  for (const std::string& path : paths) {
    const std::string why = why_no_folder(path);
    if (!why.empty()) return invalid("--plugin-path: '" + path + "' " + why);
  }
  return std::vector<fs::path>(paths.begin(), paths.end());
}

}  // namespace

Result<PlanOptions> plan_options(const CommandLine& line) {
  PlanOptions options{line.texts("set"), {}};
  KRL_ASSIGN(options.plugin_folders, plugin_paths(line));
  return options;
}

void add_plugin_path_option(CommandLine& line) {
  line.repeatable("plugin-path", "DIR", "a plugin folder, searched first (repeatable)");
}

void add_plan_options(CommandLine& line) {
  line.repeatable("set", "KEY=VALUE",
                  "change the plan: rollout.groups=4, stage.reinforce.iterations=3 (repeatable)");
  add_plugin_path_option(line);
}

Result<Registry> load_registry(const CommandLine& line) {
  KRL_ASSIGN(const std::vector<fs::path> folders, plugin_paths(line));
  return Registry::load(plugin_folders(folders));
}

Result<LoadedPlan> load_plan_of(const fs::path& file, const CommandLine& line) {
  KRL_ASSIGN(const PlanOptions options, plan_options(line));
  return service::load_plan_of(file, options);
}

void add_policy_options(CommandLine& line) {
  line.option("plan", "PLAN", "the plan of the policy");
  line.option("run", "NAME", "the newest checkpoint of this run, and its plan");
  line.option("checkpoint", "DIR",
              "this checkpoint: runs/NAME/checkpoints/step_000020, or …/checkpoints/best");
  line.option("stage", "NAME", "settings of this stage; by default the last rl stage's");
  add_plan_options(line);
}

bool names_policy(const CommandLine& line) { return line.has("plan") || line.has("run"); }

Result<ChosenPolicy> choose_policy(const CommandLine& line) {
  if (line.has("run") && line.has("checkpoint"))
    return invalid("--run and --checkpoint both select a checkpoint; use only one of them");
  KRL_ASSIGN(PlanOptions options, plan_options(line));
  KRL_ASSIGN(
      ChosenPolicy chosen,
      service::choose_policy({line.text_or("plan"), line.text_or("run"), line.text_or("checkpoint"),
                              line.text_or("stage"), std::move(options)}));
  for (const std::string& warning : chosen.warnings) print_warning(warning);
  return chosen;
}

void show_notes(const ChosenPolicy& chosen) {
  for (const std::string& note : chosen.plan().notes) print_error(note + "\n");
}

}  // namespace krl::cli
