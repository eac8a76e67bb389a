#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <kernelrl/spelling.hpp>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/plan_run.hpp"
#include "cli/policy_options.hpp"
#include "cli/screen/headline.hpp"
#include "core/base/text.hpp"
#include "core/plugin/session.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/run_record.hpp"
#include "service/runs/comparison.hpp"
#include "service/runs/definition_files.hpp"
#include "service/runs/run_archive.hpp"
#include "service/runs/run_tables.hpp"
#include "service/runs/runs.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kShownMetrics = 4;
constexpr std::chrono::milliseconds kTailPause{200};

std::string metrics_text(const Metrics& values) {
  std::string text;
  for (const std::string& name : headline(values, kShownMetrics)) {
    text += (text.empty() ? "" : "  ") + name + " " + number_text(values.at(name));
  }
  if (const std::string losses = losses_text(values); !losses.empty()) text += "  " + losses;
  return text;
}

std::string iteration_text(const IterationMetrics& metrics) {
  return std::to_string(metrics.iteration) + "  " + one_line(metrics.stage) + "  " +
         metrics_text(metrics.values) + "\n";
}

nlohmann::ordered_json to_json(const RunInfo& run) {
  nlohmann::ordered_json json = {{"name", run.name},
                                 {"directory", run.directory.string()},
                                 {"state", run.state},
                                 {"stage", run.status.stage},
                                 {"iteration", run.status.iteration},
                                 {"process", run.process},
                                 {"message", run.status.message}};
  if (run.last) json["metrics"] = run.last->values;
  return json;
}

Result<int> list(const fs::path& root, bool json) {
  KRL_ASSIGN(const std::vector<RunInfo> runs, list_runs(root));
  if (json) {
    auto all = nlohmann::ordered_json::array();
    for (const RunInfo& run : runs) all.push_back(to_json(run));
    return print_json(all);
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "STATE", "STAGE", "ITERATION", "LAST"}};
  for (const RunInfo& run : runs) {
    rows.push_back({one_line(run.name), run.state, one_line(run.status.stage),
                    std::to_string(run.status.iteration),
                    run.last ? metrics_text(run.last->values) : ""});
  }
  print(runs.empty() ? "no runs in " + root.string() + "\n" : columns(rows));
  return kDone;
}

int show_status(const RunInfo& run, bool json) {
  if (json) return print_json(to_json(run));
  std::vector<std::vector<std::string>> rows = {
      {"name", one_line(run.name)},
      {"directory", run.directory.string()},
      {"state", run.state},
      {"stage", one_line(run.status.stage)},
      {"iteration", std::to_string(run.status.iteration)},
  };
  if (run.process != 0) rows.push_back({"process", std::to_string(run.process)});
  std::string label = "message";
  for (const std::string& line : printable_lines(run.status.message))
    rows.push_back({std::exchange(label, ""), line});
  if (run.state != "running" && run.state != "finished" && run.status.iteration > 0)
    rows.push_back({"resume with", resume_command(process_words().front(), run.directory)});
  if (run.last) {
    for (const auto& [name, value] : run.last->values) rows.push_back({name, number_text(value)});
  }
  print(columns(rows));
  return kDone;
}

Result<int> stop(const RunInfo& run) {
  constexpr std::chrono::seconds kPatience{600};
  KRL_TRY(stop_run(run, kPatience));
  print("stopped; resume with: " + resume_command(process_words().front(), run.directory) + "\n");
  return kDone;
}

Result<int> resume(const RunInfo& run, const CommandLine& line) {
  KRL_ASSIGN(LoadedPlan loaded, load_plan_of(RunLayout{run.directory}.plan(), line));
  std::error_code ignored;
  loaded.plan.run.directory = fs::absolute(run.directory, ignored);  // wherever it was moved to
  if (const auto served = serve_as_follower(loaded)) return *served;
  return run_and_show(loaded, true);
}

// Deletes the run, if the call means it.
Result<int> remove(const RunInfo& run, const CommandLine& line) {
  if (!line.has("name")) return line.wrong("no run given: name the one to delete");
  if (!line.has("yes"))
    return line.wrong("this deletes " + run.directory.string() +
                      " with its checkpoints: add --yes");
  KRL_TRY(delete_run(run));
  print("deleted " + run.directory.string() + "\n");
  return kDone;
}

// A number, or that there is none.
std::string known(double value) { return std::isfinite(value) ? number_text(value) : "-"; }

nlohmann::ordered_json to_json(const Both& both) { return {both.first, both.second}; }

nlohmann::ordered_json to_json(const Comparison& c) {
  nlohmann::ordered_json json = {{"iterations", c.iterations},
                                 {"ratio", c.ratio},
                                 {"ratio_low", c.low},
                                 {"ratio_high", c.high},
                                 {"paired_tasks", c.paired}};
  for (const auto& [name, both] : c.metrics) json["metrics"][name] = to_json(both);
  for (const ComparedTask& task : c.tasks)
    json["tasks"][task.task] = {{"pass_rate", to_json(task.pass_rate)},
                                {"best_speedup", to_json(task.best_speedup)}};
  return json;
}

std::string verdict_on(const Comparison& c, const std::string& first, const std::string& second) {
  if (c.paired < 2) return "too few tasks that both solved to compare speeds\n";
  const std::string result = c.paired < kFewestPaired ? "too few tasks to tell"
                             : c.low > 1              ? second + " is faster"
                             : c.high < 1             ? first + " is faster"
                                                      : "no difference is shown";
  return fmt::format(
      "best kernels of {} against {}: {:.3f} times as fast over {} tasks (95 % over the tasks: {:.3f} to {:.3f}): {}. "
      "Another seed may differ by more.\n",
      second, first, c.ratio, c.paired, c.low, c.high, result);
}

Result<int> compare(const RunInfo& first, const CommandLine& line, const fs::path& root) {
  if (!line.has("folder")) return line.wrong("name two runs: kernelrl runs compare FIRST SECOND");
  KRL_ASSIGN(const RunInfo second, find_run(root, line.text("folder")));
  KRL_ASSIGN(const Comparison c, compare_runs({first.directory}, {second.directory}));
  if (line.has("json")) return print_json(to_json(c));
  const std::string one = one_line(first.name), other = one_line(second.name);
  std::vector<std::vector<std::string>> rows = {{"METRIC", one, other}};
  for (const auto& [name, both] : c.metrics)
    rows.push_back({name, known(both.first), known(both.second)});
  std::vector<std::vector<std::string>> tasks = {
      {"TASK", "PASSED: " + one, other, "BEST: " + one, other, "RATIO"}};
  for (const ComparedTask& task : c.tasks) {
    tasks.push_back({one_line(task.task), known(task.pass_rate.first), known(task.pass_rate.second),
                     known(task.best_speedup.first), known(task.best_speedup.second),
                     known(task.best_speedup.second / task.best_speedup.first)});
  }
  print(fmt::format("after {} iterations of each; means over the last 10\n{}\n{}\n{}", c.iterations,
                    columns(rows), columns(tasks), verdict_on(c, one, other)));
  return kDone;
}

// Prints every iteration, and new ones while the run continues.
Result<int> tail(const RunInfo& run, const fs::path& root) {
  MetricsTail metrics(RunLayout{run.directory}.metrics());
  for (bool running = true;;) {
    KRL_ASSIGN(const auto lines, metrics.next());
    for (const IterationMetrics& line : lines) print(iteration_text(line));
    if (!running) return kDone;
    const auto now = find_run(root, run.name);
    running = now && now->state == "running";  // one more look, at its last output
    if (running) std::this_thread::sleep_for(kTailPause);
  }
}

Result<int> export_definitions(const RunInfo& run, const CommandLine& line) {
  KRL_ASSIGN(const LoadedPlan loaded, load_plan_of(RunLayout{run.directory}.plan(), line));
  Session session(loaded.registry, print_warning);
  KRL_ASSIGN(const std::vector<Task> tasks, tasks_of_plan(loaded.plan, session.components()));
  return write_definitions(tasks, {run.directory}, line.text("folder"), child_options());
}

Result<int> export_run(const RunInfo& run, const CommandLine& line) {
  const std::string format = line.text_or("format", "parquet");
  if (format != "parquet" && format != "jsonl" && format != "definitions")
    return line.wrong("--format takes parquet, jsonl or definitions");
  if (!line.has("folder")) return line.wrong("no folder given: kernelrl runs export NAME FOLDER");
  if (format == "definitions") return export_definitions(run, line);
  KRL_ASSIGN(const std::string written, write_run_tables({run.directory}, line.text("folder"),
                                                         format == "parquet", child_options()));
  print(written);
  return kDone;
}

// Shows the fastest kernels of the archive, or writes all of them.
Result<int> show_archive(const RunInfo& run, const CommandLine& line) {
  constexpr std::size_t kShown = 3;
  KRL_ASSIGN(const auto tasks, archive_of({run.directory}));
  if (line.has("folder")) {
    KRL_TRY(write_archive(tasks, line.text("folder")));
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"TASK", "SPEEDUP", "ROOFLINE", "ITERATION", "DEPTH", "VISITS", "STRUCTURE"}};
  for (const auto& [task, kernels] : tasks) {
    for (std::size_t i = 0; i < std::min(kShown, kernels.size()); ++i) {
      const ArchivedKernel& kernel = kernels[i];
      const auto share = kernel.evaluation.value("roofline");
      rows.push_back({i == 0 ? one_line(task) : "", number_text(kernel.evaluation.speedup()),
                      share ? number_text(*share) : "-", std::to_string(kernel.iteration),
                      std::to_string(kernel.depth), std::to_string(kernel.visits),
                      kernel.structure});
    }
  }
  print(columns(rows));
  return kDone;
}

// The run that the call is about: the named one, or the only one.
Result<RunInfo> chosen_run(const CommandLine& line, const fs::path& root) {
  if (line.has("name")) return find_run(root, line.text("name"));
  KRL_ASSIGN(std::vector<RunInfo> runs, list_runs(root));
  if (runs.size() == 1) return std::move(runs.front());
  return invalid(runs.empty() ? "no runs in " + root.string()
                              : "no run given; `kernelrl runs list` lists them");
}

Result<int> dispatch(const std::string& what, const CommandLine& line, const fs::path& root) {
  if (what == "list") return list(root, line.has("json"));
  KRL_ASSIGN(const RunInfo run, chosen_run(line, root));
  if (what == "status") return show_status(run, line.has("json"));
  if (what == "compare") return compare(run, line, root);
  if (what == "delete") return remove(run, line);
  if (what == "stop") return stop(run);
  if (what == "resume") return resume(run, line);
  if (what == "export") return export_run(run, line);
  if (what == "archive") return show_archive(run, line);
  return tail(run, root);
}

}  // namespace

int runs_command(const Words& words) {
  CommandLine line(
      "kernelrl runs [list | status | stop | resume | tail | delete] [NAME]\n"
      "       kernelrl runs compare FIRST SECOND\n"
      "       kernelrl runs export NAME FOLDER [--format F]\n"
      "       kernelrl runs archive [NAME] [FOLDER]",
      "list    all runs, with their last metrics; status: one run in full\n"
      "stop    ask it to finish its iteration, and wait for that\nresume  continue from its newest checkpoint\ntail    its iterations, and new ones as they finish\n"
      "compare two runs after equally many iterations, task by task; delete: its folder\n"
      "export  write its samples, evaluations and best kernels as tables, or its tasks and best kernels\n"
      "        as definitions of FlashInfer-Bench\n"
      "archive the fastest kernels of each task with their lineage; with FOLDER, all of them as files\n"
      "NAME may also be the path of a run's folder. Without NAME: the only run there "
      "is.\n");
  line.option("directory", "DIR", "folder of the runs", "runs");
  line.flag("json", "list, status and compare: print JSON");
  line.flag("yes", "delete: do it");
  line.option("format", "F", "of what is exported: parquet (the default), jsonl or definitions");
  add_plan_options(line);
  line.positional({"what", "name", "folder"});
  if (const auto over = line.parse(words)) return *over;
  const std::string what = line.text_or("what", "list");
  if (const auto wrong = line.unknown(what, {"archive", "compare", "delete", "export", "list",
                                             "resume", "status", "stop", "tail"}))
    return *wrong;
  return exit_code_of(dispatch(what, line, line.text("directory")));
}

}  // namespace krl::cli
