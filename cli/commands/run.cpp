#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/plan_run.hpp"
#include "cli/policy_options.hpp"
#include "core/plan/node.hpp"
#include "core/plan/printer.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/run_record.hpp"
#include "service/runs/runs.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

bool is_named_by_call(const Plan& plan) {
  const Node* name = plan.document->find_path("run.name");
  return name != nullptr && !name->origin.is_default() && name->origin.source->name == "--set";
}

// --resume may begin a run that is not there yet. But not where the plan was run under other names,
// which this call has left out, or is the record of a run elsewhere: one of those is meant.
Status check_meant(const Plan& plan) {
  std::error_code ignored;
  if (fs::exists(RunLayout{plan.run.directory}.plan(), ignored) || is_named_by_call(plan))
    return {};
  KRL_ASSIGN(auto others, runs_of_plan(plan.run.directory.parent_path(), plan.file));
  const RunLayout own{plan.file.parent_path()};
  if (plan.file == own.plan() && fs::exists(own.record(), ignored)) {
    KRL_ASSIGN(RunInfo run, find_run({}, own.root.string()));
    others.push_back(std::move(run));
  }
  if (others.empty()) return {};
  std::string message = "there is no run '" + plan.run.name + "' in " +
                        plan.run.directory.parent_path().string() +
                        "; this plan was used by other runs:";
  for (const RunInfo& run : others)
    message += "\n  " + resume_command(process_words().front(), run.directory);
  message += "\nresume one of them, or omit --resume to start '" + plan.run.name + "'";
  return failure(Code::kNotFound, std::move(message));
}

Result<LoadedPlan> load(const CommandLine& line) {
  KRL_ASSIGN(PlanOptions options, plan_options(line));
  if (line.has("from"))
    options.changes.push_back("run.from=" + fs::absolute(line.text("from")).string());
  return service::load_plan_of(line.text("plan"), options);
}

}  // namespace

int run_command(const Words& words) {
  CommandLine line(
      "kernelrl --plan PLAN [--set KEY=VALUE]… [--from DIR] [--resume] [--dry-run]",
      "Runs the experiment that a plan describes. Its results go to runs/NAME/.\nSIGINT, SIGTERM, a hang-up or a closed output finish the iteration and write a checkpoint.\n");
  line.option("plan", "PLAN", "the plan, a TOML file");
  line.option(
      "from", "DIR",
      "start from the trained policy of another run: runs/NAME/checkpoints/step_000020; required again with --resume");
  line.flag("resume", "resume from the run's newest checkpoint");
  line.flag("dry-run", "print the resolved plan with the origin of every value, and exit");
  add_plan_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("plan")) return line.wrong("no plan given: use --plan");
  const auto loaded = load(line);
  if (!loaded) return report(loaded.error());
  if (line.has("dry-run")) {
    for (const std::string& note : loaded->plan.notes) print("# " + note + "\n");
    print(print_plan(loaded->plan, ShowOrigins::kYes));
    return kDone;
  }
  if (const auto served = serve_as_follower(*loaded)) return *served;
  if (line.has("resume")) {
    if (const Status meant = check_meant(loaded->plan); !meant) return report(meant.error());
  }
  return run_and_show(*loaded, line.has("resume"));
}

}  // namespace krl::cli
