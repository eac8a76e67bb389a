// kernelrl, the program: finds the command and passes the words on.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <kernelrl/spelling.hpp>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "core/base/file_system.hpp"
#include "core/plugin/crash.hpp"
#include "kernelrl_commit.hpp"

namespace {

constexpr const char* kHelp =
    R"(kernelrl trains a language model to write CUDA kernels, as described by a plan.

  kernelrl --plan PLAN.toml            run the plan; results go to runs/NAME/
  kernelrl --plan PLAN.toml --resume   continue from the newest checkpoint
  kernelrl check PLAN.toml             check a plan and its plugins
  kernelrl plugins [list | show ID]    list components, or show one with its options
  kernelrl plugins [validate | install] FILE
                                       try a plugin against its contract; keep it for all plans
  kernelrl judge KERNEL.cu --reference MODULE.py
                                       judge a kernel by a PyTorch module that computes the same
  kernelrl emulate FILE --launch L --buffer B…
                                       run any kernel without a GPU, and find its faults
  kernelrl eval --backend B --task T KERNEL.cu…
                                       evaluate kernel files
  kernelrl eval --run NAME             evaluate a trained policy
  kernelrl chat --run NAME             talk to it
  kernelrl export --run NAME DIRECTORY export its weights for other programs
  kernelrl doctor                      check this machine and which backends work on it
  kernelrl index [build | query] …     embed documents, and find those nearest to a text
  kernelrl launch -n N -- --plan PLAN.toml
                                       run a plan on N processes of this machine
  kernelrl new {reward | dataset | backend | policy | task} NAME
                                       begin a plugin or a task of your own
  kernelrl mcp [--backend B]           judge kernels for a coding agent, by MCP
  kernelrl report RUN [RUN…]           write a page that shows runs in a browser
  kernelrl runs [list | status | compare | stop | resume | tail | export | delete] [NAME]
                                       manage runs
  kernelrl score --plan P --task T KERNEL.cu
                                       show what each reward of a plan gives a kernel; or, with
                                       --run NAME, the answers of a run
  kernelrl serve [--backend B]         judge kernels for other programs, over HTTP
  kernelrl solve TASK [--endpoint URL | --from RUN | --plan PLAN]
                                       search for fast kernels with any policy
  kernelrl verify RUN                  evaluate a run's kernels again, and compare
  kernelrl tasks [list | show | check | import | export] …
                                       list, show or check tasks; exchange them with other projects
  kernelrl --version                   print the version and the commit
  kernelrl --share                     print the folder of plans, tasks and the Python package

Every command has its own help: kernelrl --plan x --help, kernelrl eval --help.
Exit codes: 0 done, 1 the run failed, 2 the plan or the command line is wrong, 3 the kernel is not right or the plugin is broken, 130 interrupted.
)";

struct Command {
  const char* name;
  int (*run)(const krl::cli::Words&);
};

constexpr Command kCommands[] = {
    {"chat", krl::cli::chat_command},     {"check", krl::cli::check_command},
    {"doctor", krl::cli::doctor_command}, {"emulate", krl::cli::emulate_command},
    {"eval", krl::cli::eval_command},     {"export", krl::cli::export_command},
    {"index", krl::cli::index_command},   {"judge", krl::cli::judge_command},
    {"launch", krl::cli::launch_command}, {"mcp", krl::cli::mcp_command},
    {"new", krl::cli::new_command},       {"plugins", krl::cli::plugins_command},
    {"report", krl::cli::report_command}, {"runs", krl::cli::runs_command},
    {"score", krl::cli::score_command},   {"serve", krl::cli::serve_command},
    {"solve", krl::cli::solve_command},   {"tasks", krl::cli::tasks_command},
    {"verify", krl::cli::verify_command}};

// Words of a call that nothing follows.
constexpr std::string_view kAlone[] = {"--help", "-h", "help", "--version", "version", "--share"};

int unknown_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& command : kCommands) known.emplace_back(command.name);
  const std::string hint = name.ends_with(".toml") ? "; to run a plan: kernelrl --plan " + name
                                                   : "; `kernelrl --help` lists the commands";
  krl::cli::print_error("kernelrl: error: unknown command '" + name + "'" +
                        krl::did_you_mean(name, known, hint) + "\n");
  return krl::cli::kWrongCall;
}

// The first word of a call, for a shell that completes it.
void print_first_words() {
  for (const Command& command : kCommands) krl::cli::print(std::string(command.name) + "\n");
  for (const char* option : {"--plan", "--help", "--version", "--share"})
    krl::cli::print(std::string(option) + "\n");
}

int dispatch(const krl::cli::Words& words) {
  if (words.empty() && krl::cli::is_completing()) {
    print_first_words();
    return krl::cli::kDone;
  }
  if (words.empty()) {
    krl::cli::print_error(kHelp);
    return krl::cli::kWrongCall;
  }
  const std::string& first = words.front();
  if (krl::cli::is_completing() && std::ranges::count(kAlone, first) > 0) return krl::cli::kDone;
  if (first == "--help" || first == "-h" || first == "help") {
    krl::cli::print(kHelp);
    return krl::cli::kDone;
  }
  if (first == "--version" || first == "version") {
    krl::cli::print("kernelrl " KERNELRL_VERSION KERNELRL_COMMIT "\n");
    return krl::cli::kDone;
  }
  if (first == "--share") {
    krl::cli::print(krl::core::shared_files().string() + "\n");
    return krl::cli::kDone;
  }
  for (const Command& command : kCommands) {
    if (first == command.name) return command.run({words.begin() + 1, words.end()});
  }
  return first.starts_with("-") ? krl::cli::run_command(words) : unknown_command(first);
}

}  // namespace

int main(int argc, char** argv) {
  krl::cli::keep_streams();
  krl::cli::set_last_words_stream(::fileno(krl::cli::errors()));
  krl::cli::report_crashes();
  try {
    return krl::cli::code_after_output(dispatch({argv + 1, argv + argc}));
  } catch (const std::exception& e) {
    // Nothing of ours throws; a library did, most likely for lack of memory.
    return krl::cli::report({krl::cli::Code::kInternal, e.what()});
  }
}
