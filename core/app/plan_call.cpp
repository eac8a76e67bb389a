#include "core/app/plan_call.hpp"

#include <unistd.h>

#include <fstream>
#include <optional>

#include "core/app/console.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/plugin_output.hpp"
#include "core/app/stop_signals.hpp"
#include "core/base/log.hpp"
#include "core/learn/trainer.hpp"
#include "core/plan/loader.hpp"
#include "core/plugin/call_watch.hpp"
#include "core/run/display.hpp"
#include "core/run/layout.hpp"

namespace krl {
namespace fs = std::filesystem;
namespace po = boost::program_options;
namespace {

std::vector<fs::path> plugin_paths(const CallLine& line) {
  const Words paths = line.texts("plugin-path");
  return {paths.begin(), paths.end()};
}

// The words this process was started with.
std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace

void add_plugin_path_option(CallLine& line) {
  line.options()("plugin-path", po::value<Words>()->value_name("DIR"),
                 "a folder with plugins, searched first (repeatable)");
}

void add_plan_options(CallLine& line) {
  line.options()("set", po::value<Words>()->value_name("KEY=VALUE"),
                 "change the plan: rollout.groups=4, stage.reinforce.iterations=3 (repeatable)");
  add_plugin_path_option(line);
}

Registry load_registry(const CallLine& line) {
  return Registry::load(plugin_folders(plugin_paths(line)));
}

Result<LoadedPlan> load_plan_of(const fs::path& file, const CallLine& line) {
  Registry registry;
  const auto catalog = [&](const std::vector<fs::path>& folders_of_plan) -> Result<Catalog> {
    std::vector<fs::path> folders = plugin_paths(line);
    folders.insert(folders.end(), folders_of_plan.begin(), folders_of_plan.end());
    registry = Registry::load(plugin_folders(folders));
    return registry.catalog();
  };
  KRL_ASSIGN(Plan plan, load_plan(file, line.texts("set"), catalog));
  return LoadedPlan{std::move(plan), std::move(registry)};
}

int run_and_show(const LoadedPlan& loaded, bool resume) {
  const StopSignals signals;
  const auto display = make_display(output(), errors());
  const auto journal =
      Journal::open(loaded.plan, loaded.registry, resume, command_line(), *display);
  if (!journal) return report(journal.error());
  std::optional<PluginOutput> plugin_output;  // a live view shares the terminal with nobody
  if (can_redraw(output()) && ::isatty(::fileno(errors())) == 1)
    plugin_output.emplace(RunLayout{(*journal)->root()}.output());
  const CallWatch watch([&](const std::string& note) {
    log(Severity::kWarning, note);
    display->warning(note);
  });
  const auto outcome =
      run_plan(loaded.plan, loaded.registry, **journal, signals.stop(), signals.cancel());
  // The journal has shown the end.
  if (!outcome) return outcome.error().code == Code::kCancelled ? kInterrupted : kRunFailed;
  return *outcome == Outcome::kInterrupted ? kInterrupted : kDone;
}

}  // namespace krl
