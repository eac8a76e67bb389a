#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <cstdlib>
#include <kernelrl/spelling.hpp>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/base/file_system.hpp"
#include "core/plan/loader.hpp"
#include "core/plugin/session.hpp"
#include "service/kernels/tasks.hpp"
#include "service/mutation/mutant_run.hpp"
#include "service/process/child_program.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAbout =
    "list    the tasks of a file or folder, or the built-in ones\n"
    "show    one of them, by its id or file: signature, prompt, reference, naive kernel, cases\n"
    "check   let a backend check each of them: its reference, its naive kernel, and that nothing\n"
    "        trivial passes; with --mutants, how many wrong kernels it refuses\n"
    "import  convert a PyTorch module, or the problems of another project, into task files. Its\n"
    "        options follow: kernelrl tasks import pytorch --help\n"
    "export  write them as tasks of agents' benchmarks: kernelrl tasks export --help\n";

CommandLine command_line() {
  return CommandLine(
      "kernelrl tasks [list | check] [TASKS] [--backend B]\n"
      "       kernelrl tasks show TASK\n"
      "       kernelrl tasks check [TASKS] --mutants N [--kernels FOLDER]…\n"
      "       kernelrl tasks import pytorch MODULE.py [OUT.toml] …\n"
      "       kernelrl tasks import kernelbench CHECKOUT FOLDER …\n"
      "       kernelrl tasks import definitions FOLDER FOLDER …\n"
      "       kernelrl tasks export --format F FOLDER [TASK]…",
      kAbout);
}

Result<std::vector<Task>> chosen_tasks(const CommandLine& line, Components& components) {
  if (line.has("path")) return tasks_named(line.text("path"), components);
  return built_in_tasks(components);
}

int list_as_json(const std::vector<Task>& tasks) {
  auto all = nlohmann::ordered_json::array();
  for (const Task& task : tasks)
    all.push_back({{"id", task.id}, {"tier", task.tier}, {"title", task.title}});
  return print_json(all);
}

int list(const std::vector<Task>& tasks) {
  std::vector<std::vector<std::string>> rows = {{"TASK", "TIER", "TITLE"}};
  for (const Task& task : tasks) rows.push_back({task.id, std::to_string(task.tier), task.title});
  print(columns(rows));
  return kDone;
}

Result<std::string> details_of(const Task& task) {
  KRL_ASSIGN(const TaskFacts facts, facts_of(task));
  const auto definition = nlohmann::json::parse(task.definition_json);
  const auto part = [](const char* title, const std::string& text) {
    return text.empty()
               ? ""
               : std::string("\n") + title + "\n" + text + (text.ends_with('\n') ? "" : "\n");
  };
  return task.id + ": " + task.title + " (tier " + std::to_string(task.tier) + ")\n" +
         part("prompt", task.prompt) + part("tensors", facts.signature) +
         part("cases", facts.cases) + part("real cases", facts.real_cases) +
         part("reference", definition.value("reference", "")) + part("naive kernel", facts.naive);
}

// The definitions, as task files have them.
int show_as_json(const std::vector<Task>& tasks) {
  auto all = nlohmann::ordered_json::array();
  for (const Task& task : tasks) all.push_back(nlohmann::ordered_json::parse(task.definition_json));
  return print_json(all);
}

Result<int> show(const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    KRL_ASSIGN(const std::string details, details_of(task));
    print(details);
  }
  return kDone;
}

// Prints a line for each task as soon as it is known, in any order.
int check(const std::vector<Task>& tasks, const Backend& backend, bool as_json) {
  std::mutex mutex;  // guards the members below
  std::size_t refused = 0;
  const auto check_one = [&](const Task& task) {
    const Status good = backend.prepare(task, EvaluateOptions());
    const std::string why = good ? "" : good.error().message;
    const std::lock_guard lock(mutex);
    if (as_json)
      print_json({{"id", task.id}, {"accepted", good.has_value()}, {"why", why}});
    else
      print(task.id + (good ? ": accepted\n" : ": refused: " + why + "\n"));
    if (!good) ++refused;
  };
  boost::asio::thread_pool pool(backend.info().concurrency);
  for (const Task& task : tasks) boost::asio::post(pool, [&] { check_one(task); });
  pool.join();
  if (!as_json)
    print(std::to_string(tasks.size() - refused) + " accepted, " + std::to_string(refused) +
          " refused\n");
  return refused == 0 ? kDone : kRunFailed;
}

// Prints a table by task and by kind of change. Fails if a kernel that should be right is refused,
// if a mutant could not be judged, or if fewer are refused than --least says.
Result<int> check_mutants(const CommandLine& line, const std::vector<Task>& tasks,
                          const Backend& backend) {
  const auto count = number_in<std::size_t>(line.text("mutants"));
  const auto seed = number_in<std::uint64_t>(line.text("seed"));
  const auto least = number_in<double>(line.text_or("least", "0"));
  if (!count || *count == 0) return line.wrong("--mutants needs a number from 1 on");
  if (!seed) return line.wrong("--seed needs a whole number");
  if (!least || *least < 0 || *least > 100) return line.wrong("--least needs a share in percent");
  KRL_ASSIGN(
      const auto judged,
      judge_mutants(tasks, backend,
                    {*count, *seed, line.texts("kernels"), line.text_or("output"),
                     line.text_or("equivalent"), line.has("ptx")},
                    [](const std::string& why) { print_error("kernelrl: error: " + why + "\n"); }));
  const MutantCounts& counts = judged.counts;
  print(line.has("json") ? to_json(counts).dump(2) + "\n"
                         : columns(rows_of(counts.by_kind, counts.all, "CHANGE")) + "\n" +
                               columns(rows_of(counts.by_task, counts.all, "TASK")));
  const bool enough = 100 * counts.all.refused_share() >= *least;
  return judged.failed == 0 && enough ? kDone : kRunFailed;
}

Result<int> list_or_check(const std::string& what, const CommandLine& line) {
  KRL_ASSIGN(const Registry registry, load_registry(line));
  Session session(registry, print_warning);
  Components& components = session.components();
  KRL_ASSIGN(const std::vector<Task> tasks, chosen_tasks(line, components));
  const bool as_json = line.has("json");
  if (what == "list") return as_json ? list_as_json(tasks) : list(tasks);
  if (what == "show") return as_json ? show_as_json(tasks) : show(tasks);
  KRL_ASSIGN(const ComponentSettings settings,
             configure_component(Kind::kBackend, line.text("backend"), line.texts("set"),
                                 registry.catalog()));
  KRL_ASSIGN(const Backend* backend, components.backend(settings));
  if (line.has("mutants")) return check_mutants(line, tasks, *backend);
  return check(tasks, *backend, as_json);
}

constexpr const char* kImportHelp =
    R"(Usage: kernelrl tasks import pytorch MODULE.py [OUT.toml]   a module or function of yours
       kernelrl tasks import kernelbench CHECKOUT FOLDER      the problems of KernelBench
       kernelrl tasks import definitions FOLDER FOLDER        FlashInfer-Bench, SOL-ExecBench
Each has more options, and --help. They need a Python with PyTorch: python3, or the one that
KERNELRL_PYTHON names.
)";

// Leaves it to Python, which reads other projects' Python.
int import(const Words& words) {
  const std::vector<std::string> known = {"definitions", "kernelbench", "pytorch"};
  if (is_completing()) {
    for (const std::string& name : words.empty() ? known : Words()) print(name + "\n");
    return kDone;
  }
  const std::string format = words.empty() ? "" : words.front();
  if (format == "--help" || format == "-h") {
    print(kImportHelp);
    return kDone;
  }
  if (std::find(known.begin(), known.end(), format) == known.end()) {
    print_error("kernelrl: error: " +
                (format.empty() ? "name what to import" + did_you_mean(format, known)
                                : "cannot import '" + format + "'" + did_you_mean(format, known)) +
                "\n");
    return kWrongCall;
  }
  const auto code = run_script(format, {words.begin() + 1, words.end()}, child_options());
  if (code) return *code;
  report(code.error());
  return kRunFailed;
}

void add_mutant_options(CommandLine& line) {
  line.option("mutants", "N",
              "derive N wrong kernels from right ones by machine, and count what is refused");
  line.repeatable("kernels", "FOLDER",
                  "right kernels named after their tasks, besides the naive ones; repeatable");
  line.option("seed", "S", "of the N", "0");
  line.option("least", "PERCENT",
              "fail if an ordinary evaluation refuses fewer of those that are wrong");
  line.option("output", "FILE",
              "a line of JSON for each mutant; a later call goes on where it ends");
  line.option("equivalent", "FILE",
              "leave out what is no wrong kernel by this output of a call with another backend");
  line.flag("ptx", "change the compiled code instead of the source");
}

}  // namespace

int tasks_command(const Words& words) {
  if (!words.empty() && words.front() == "import") return import({words.begin() + 1, words.end()});
  if (!words.empty() && words.front() == "export")
    return tasks_export_command({words.begin() + 1, words.end()});
  CommandLine line = command_line();
  line.option("backend", "ID", "the backend that checks", "cpu");
  line.repeatable("set", "KEY=VALUE", "override an option of the backend; repeatable");
  add_mutant_options(line);
  line.flag("json", "list, show and check: print JSON, check a line for each task");
  add_plugin_path_option(line);
  line.positional({"what", "path"});
  if (const auto over = line.parse(words)) return *over;
  const std::string what = line.text_or("what", "list");
  if (const auto wrong = line.unknown(what, {"check", "export", "import", "list", "show"}))
    return *wrong;
  if (what == "show" && !line.has("path")) return line.wrong("no task given: name its id or file");
  return exit_code_of(list_or_check(what, line));
}

}  // namespace krl::cli
