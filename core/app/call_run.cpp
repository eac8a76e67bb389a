#include <fstream>

#include "core/app/calls.hpp"
#include "core/app/console.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/run_call.hpp"
#include "core/app/stop_signals.hpp"
#include "core/learn/setup.hpp"
#include "core/learn/trainer.hpp"
#include "core/plan/printer.hpp"
#include "core/run/display.hpp"

namespace krl {
namespace po = boost::program_options;
namespace {

// Passes everything on, and remembers whether the end was shown: the error of a run that began is
// then on the screen already.
class WatchedDisplay final : public Display {
 public:
  explicit WatchedDisplay(Display& shown) : shown_(shown) {}

  bool over() const { return over_; }

  void stage_started(const StageInfo& stage) override { shown_.stage_started(stage); }
  void progress(const Progress& progress) override { shown_.progress(progress); }
  void iteration_finished(const IterationMetrics& m) override { shown_.iteration_finished(m); }
  void note(const std::string& text) override { shown_.note(text); }
  void warning(const std::string& text) override { shown_.warning(text); }
  void finished(const RunSummary& summary) override {
    over_ = true;
    shown_.finished(summary);
  }

 private:
  Display& shown_;
  bool over_ = false;
};

// The words this process was started with.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace

int run_and_show(const LoadedPlan& loaded, bool resume) {
  const StopSignals signals;
  RunOptions options;
  options.resume = resume;
  options.command_line = command_line();
  options.stop = &signals.stop();
  options.cancel = &signals.cancel();
  const auto display = make_display();
  WatchedDisplay watched(*display);
  const auto outcome = run_plan(loaded.plan, loaded.registry, options, watched);
  if (!outcome && !watched.over()) return report(outcome.error());
  if (!outcome) return outcome.error().code == Code::kCancelled ? kInterrupted : kRunFailed;
  return *outcome == Outcome::kInterrupted ? kInterrupted : kDone;
}

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
    print(print_plan(loaded->plan, ShowOrigins::kYes));
    return kDone;
  }
  // Before there is a run directory: what does not fit together is an error of the plan.
  if (const Status fits = check_components(loaded->plan, loaded->registry); !fits) {
    return report(fits.error());
  }
  return run_and_show(*loaded, line.has("resume"));
}

}  // namespace krl
