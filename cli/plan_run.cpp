#include "cli/plan_run.hpp"

#include <unistd.h>

#include "cli/command_line.hpp"
#include "cli/console.hpp"
#include "cli/screen/display.hpp"
#include "cli/screen/plugin_output.hpp"
#include "cli/stop_signals.hpp"
#include "core/base/log.hpp"
#include "core/experiment/component_check.hpp"
#include "core/experiment/trainer.hpp"
#include "core/plugin/policy.hpp"
#include "core/plugin/session.hpp"
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
  log(Severity::kInfo,
      at_once ? "asked to stop at once"
      : news == StopNews::kHangUp
          ? "the terminal or the reader of the output is gone: stops after the iteration"
          : "asked to stop after the iteration");
  display.stopping(at_once);
}

Status follow(const LoadedPlan& loaded) {
  Session session(loaded.registry, print_warning);
  KRL_ASSIGN(const Policy policy, session.components().create<Policy>(loaded.plan.policy));
  // A signal goes to all processes; from here on the one that runs the plan decides when this one
  // ends.
  const StopSignals ignored;
  return policy.follow();
}

}  // namespace

int run_and_show(const LoadedPlan& loaded, bool resume) {
  const Plan& plan = loaded.plan;
  hold_log();  // there is no file for it before the run has a directory
  std::unique_ptr<Display> display;
  std::unique_ptr<Journal> journal;
  std::atomic<Journal*> open = nullptr;  // the journal, as the watch's thread sees it
  Session session(
      loaded.registry,
      [&](const std::string& note) {
        if (Journal* const into = open) return into->warn(note);
        print_warning(note);
      },
      call_scope(plan.run, StopSignals::cancel()));
  // Before there is a run directory, parts that do not fit together are an error of the plan.
  if (const Status runnable = check_runnable(plan, session.components()); !runnable)
    return report(runnable.error());
  display = make_display(plan.run.name, output(), errors());
  StopSignals signals([&](StopNews news) { show(news, *display); });
  auto opened = Journal::open(plan, loaded.registry, resume, process_words(), *display);
  if (!opened) return report(opened.error());
  journal = *std::move(opened);
  open = journal.get();
  for (const std::string& note : plan.notes) journal->warn(note);
  std::optional<PluginOutput> plugin_output;  // a live view has the terminal to itself
  if (can_redraw(output()) && ::isatty(::fileno(errors())) == 1)
    plugin_output.emplace(RunLayout{journal->root()}.output());
  const auto outcome = run_plan(plan, std::move(session.components()), *journal, signals.stop());
  signals.settle();  // the run's log is open until the journal goes
  // The journal has shown the end. An error before the start is one of the plan or the call.
  if (!outcome && !journal->started()) return exit_code_of(outcome.error());
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
