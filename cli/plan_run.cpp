#include "cli/plan_run.hpp"

#include <unistd.h>

#include "cli/console.hpp"
#include "cli/screen/display.hpp"
#include "cli/screen/plugin_output.hpp"
#include "cli/stop_signals.hpp"
#include "core/base/log.hpp"
#include "core/learn/setup.hpp"
#include "core/learn/trainer.hpp"
#include "core/plugin/active_call.hpp"
#include "core/plugin/policy.hpp"
#include "core/run/run_directory.hpp"

namespace krl::cli {
namespace {

void warn(const std::string& text, Display& display) {
  log_lines(Severity::kWarning, text);
  display.warning(text);
}

void show(StopNews news, Display& display) {
  if (news == StopNews::kStillRunning) {
    for (const std::string& call : calls_under_way()) warn("still waiting for " + call, display);
    return;
  }
  const bool at_once = news == StopNews::kSecond;
  log(Severity::kInfo, at_once ? "asked to stop at once" : "asked to stop after the iteration");
  display.stopping(at_once);
}

Result<std::vector<Error>> checked(const LoadedPlan& loaded) {
  const CallWatch watch(print_warning);
  return check_components(loaded.plan, loaded.registry);
}

Status follow(const LoadedPlan& loaded) {
  const CallScope scope;
  const CallWatch watch(print_warning);
  Components components(loaded.registry, scope);
  KRL_ASSIGN(const Policy policy, components.create<Policy>(loaded.plan.policy));
  // A signal goes to all processes; from here on the one that runs the plan says when this one
  // ends.
  const StopSignals ignored;
  return policy.follow();
}

}  // namespace

int run_and_show(const LoadedPlan& loaded, bool resume) {
  // Before there is a run directory: what does not fit together is an error of the plan.
  const auto missing = checked(loaded);
  if (!missing) return report(missing.error());
  if (!missing->empty()) return report(missing->front());
  const auto display = make_display(loaded.plan.run.name, output(), errors());
  StopSignals signals([&](StopNews news) { show(news, *display); });
  const auto journal =
      Journal::open(loaded.plan, loaded.registry, resume, process_words(), *display);
  if (!journal) return report(journal.error());
  for (const std::string& note : loaded.plan.notes) (*journal)->warn(note);
  std::optional<PluginOutput> plugin_output;  // a live view has the terminal to itself
  if (can_redraw(output()) && ::isatty(::fileno(errors())) == 1)
    plugin_output.emplace(RunLayout{(*journal)->root()}.output());
  const CallWatch watch([&](const std::string& note) { (*journal)->warn(note); });
  const auto outcome =
      run_plan(loaded.plan, loaded.registry, **journal, signals.stop(), signals.cancel());
  signals.settle();  // the run's log is open until the journal goes
  // The journal has shown the end. What is wrong at the start is wrong with the plan or the call.
  if (!outcome && !(*journal)->started()) return exit_code_of(outcome.error());
  if (!outcome) return outcome.error().code == Code::kCancelled ? kInterrupted : kRunFailed;
  return *outcome == Outcome::kInterrupted ? kInterrupted : kDone;
}

std::optional<int> serve_as_follower(const LoadedPlan& loaded) {
  const auto component = loaded.registry.require(Kind::kPolicy, loaded.plan.policy.use);
  if (!component) return report(component.error());
  const auto follows = Policy::follows(**component);
  if (!follows) return report(follows.error());
  if (!*follows) return std::nullopt;
  const Status served = follow(loaded);
  if (served) return kDone;
  report(served.error());
  return kRunFailed;
}

}  // namespace krl::cli
