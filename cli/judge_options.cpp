#include "cli/judge_options.hpp"

#include <filesystem>
#include <random>

#include "core/plan/source.hpp"

namespace krl::cli {
namespace fs = std::filesystem;

void add_judge_options(CommandLine& line) {
  line.option("plan", "PLAN", "the plan that says what judges, for which tasks");
  line.option("backend", "ID", "the backend, where there is no plan (cpu)");
  line.option("tasks", "PATH", "the tasks, a file or a folder (the built-in ones)");
  add_plan_options(line);
}

std::string why_no_judge(const CommandLine& line) {
  if (!line.has("plan") || (!line.has("backend") && !line.has("tasks"))) return {};
  return "a plan has its own backend and tasks; give --plan or --backend and --tasks";
}

Result<LoadedPlan> load_judge(const CommandLine& line) {
  if (line.has("plan")) return load_plan_of(line.text("plan"), line);
  KRL_ASSIGN(PlanOptions options, plan_options(line));
  std::vector<std::string> chosen;
  if (line.has("backend")) chosen.push_back("backend.use=" + line.text("backend"));
  if (line.has("tasks"))
    chosen.push_back("dataset.0.path=" + fs::absolute(line.text("tasks")).string());
  options.changes.insert(options.changes.begin(), chosen.begin(), chosen.end());
  return service::load_plan_of(shared_files() / "configs" / "judge.toml", options);
}

std::uint64_t secret_seed() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

}  // namespace krl::cli
