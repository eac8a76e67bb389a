#include "core/app/calls.hpp"
#include "core/app/console.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/follower_call.hpp"
#include "core/app/plan_call.hpp"
#include "core/learn/setup.hpp"
#include "core/plan/printer.hpp"
#include "core/plugin/call_watch.hpp"

namespace krl {
namespace po = boost::program_options;

namespace {

Result<std::vector<Error>> checked(const LoadedPlan& loaded) {
  const CallWatch watch(print_warning);
  return check_components(loaded.plan, loaded.registry);
}

}  // namespace

int call_run(const Words& words) {
  CallLine line("kernelrl --plan PLAN [--set KEY=VALUE]… [--resume] [--dry-run]",
                "Runs the experiment that a plan describes. Its results go to runs/NAME/.\n"
                "SIGINT and SIGTERM finish the step, write a checkpoint and say how to go on.\n");
  line.options()("plan", po::value<std::string>()->value_name("PLAN"), "the plan, a TOML file")(
      "resume", "go on from the run's newest checkpoint")(
      "dry-run", "print the resolved plan with the origin of every value, and end");
  add_plan_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("plan")) return line.wrong("which plan? Name it by --plan");
  const auto loaded = load_plan_of(line.text("plan"), line);
  if (!loaded) return report(loaded.error());
  if (line.has("dry-run")) {
    for (const std::string& note : loaded->plan.notes) print("# " + note + "\n");
    print(print_plan(loaded->plan, ShowOrigins::kYes));
    return kDone;
  }
  if (const auto served = serve_as_follower(*loaded)) return *served;
  // Before there is a run directory: what does not fit together is an error of the plan.
  const auto missing = checked(*loaded);
  if (!missing) return report(missing.error());
  if (!missing->empty()) return report(missing->front());
  return run_and_show(*loaded, line.has("resume"));
}

}  // namespace krl
