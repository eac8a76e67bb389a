#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/plan_run.hpp"
#include "core/base/text.hpp"
#include "core/plugin/session.hpp"
#include "service/report/report.hpp"
#include "service/runs/definition_files.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

// The naive kernels of the run's tasks.
Result<std::map<std::string, std::string>> naive_kernels(const RunInfo& run,
                                                         const CommandLine& line) {
  KRL_ASSIGN(const LoadedPlan loaded, load_plan_of(RunLayout{run.directory}.plan(), line));
  Session session(loaded.registry, print_warning);
  KRL_ASSIGN(const std::vector<Task> tasks, tasks_of_plan(loaded.plan, session.components()));
  std::map<std::string, std::string> naive;
  for (const Task& task : tasks)
    if (const auto facts = facts_of(task); facts && !facts->naive.empty())
      naive[task.id] = facts->naive;
  return naive;
}

Result<int> write(const CommandLine& line) {
  std::vector<ReportedRun> runs;
  for (const std::string& name : line.texts("runs")) {
    KRL_ASSIGN(const RunInfo run, find_run(line.text("directory"), name));
    runs.push_back({run});
    if (auto naive = naive_kernels(run, line))
      runs.back().naive = *std::move(naive);
    else
      print_warning(
          fmt::format("{}: its naive kernels are not shown: {}", run.name, naive.error().message));
  }
  const fs::path file = line.text_or("output", runs.front().run.name + ".html");
  KRL_TRY(write_report(runs, file));
  std::error_code ignored;
  print(fmt::format("{}: {:.1f} MB\n", file.string(),
                    static_cast<double>(fs::file_size(file, ignored)) / 1e6));
  return kDone;
}

}  // namespace

int report_command(const Words& words) {
  CommandLine line(
      "kernelrl report RUN [RUN…] [--output FILE]",
      "Writes one HTML file that shows runs in a browser, without a network: what they learned, curves,\n"
      "tasks, best kernels, and every answer that was kept. Several runs are shown side by side and\n"
      "compared, each with the first. RUN: a name, or the path of a run's folder.\n");
  line.option("output", "FILE", "the file, by default RUN.html");
  line.option("directory", "DIR", "folder of the runs", "runs");
  add_plan_options(line);
  line.rest("runs");
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("runs")) return line.wrong("no run given; `kernelrl runs list` lists them");
  return exit_code_of(write(line));
}

}  // namespace krl::cli
