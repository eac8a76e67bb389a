// kernelrl, the program: finds the call and passes the words on.
#include <array>
#include <cstdio>
#include <exception>
#include <kernelrl/spelling.hpp>
#include <string>

#include "core/app/calls.hpp"
#include "core/app/console.hpp"
#include "core/app/exit_code.hpp"
#include "core/plugin/crash.hpp"
#include "core/plugin/last_words.hpp"

namespace {

constexpr const char* kHelp =
    R"(kernelrl trains a language model to write CUDA kernels, as a plan describes.

  kernelrl --plan PLAN.toml            run the plan; results go to runs/NAME/
  kernelrl --plan PLAN.toml --resume   go on from the newest checkpoint
  kernelrl check PLAN.toml             check a plan and its plugins
  kernelrl plugins [list | show ID]    what is loaded, and its options
  kernelrl eval --backend B --task T KERNEL.cu
                                       evaluate one kernel file
  kernelrl eval --run NAME             evaluate what a policy has learned
  kernelrl chat --run NAME             talk to it
  kernelrl export --run NAME DIRECTORY its weights for other programs
  kernelrl doctor                      what this machine has, which backends work on it
  kernelrl launch -n N -- --plan PLAN.toml
                                       run a plan on N processes of this machine
  kernelrl runs [list | status | stop | resume | tail] [NAME]
                                       look after runs
  kernelrl --version

Each call explains itself with --help: kernelrl --plan x --help, kernelrl eval --help.
Exit codes: 0 done, 1 the run failed, 2 the plan or the call is wrong, 130 interrupted.
)";

struct Call {
  const char* name;
  int (*run)(const krl::Words&);
};

constexpr std::array<Call, 8> kCalls = {{{"chat", krl::call_chat},
                                         {"check", krl::call_check},
                                         {"doctor", krl::call_doctor},
                                         {"eval", krl::call_eval},
                                         {"export", krl::call_export},
                                         {"launch", krl::call_launch},
                                         {"plugins", krl::call_plugins},
                                         {"runs", krl::call_runs}}};

int wrong_call(const std::string& name) {
  std::vector<std::string> known;
  for (const Call& call : kCalls) known.emplace_back(call.name);
  const std::string hint = name.ends_with(".toml") ? "; to run a plan: kernelrl --plan " + name
                                                   : "; `kernelrl --help` lists the calls";
  krl::print_error("kernelrl: error: unknown call '" + name + "'" +
                   krl::did_you_mean(name, known, hint) + "\n");
  return krl::kWrongCall;
}

int dispatch(const krl::Words& words) {
  if (words.empty()) {
    krl::print_error(kHelp);
    return krl::kWrongCall;
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h" || first == "help") {
    krl::print(kHelp);
    return krl::kDone;
  }
  if (first == "--version" || first == "version") {
    krl::print("kernelrl " KERNELRL_VERSION "\n");
    return krl::kDone;
  }
  for (const Call& call : kCalls) {
    if (first == call.name) return call.run({words.begin() + 1, words.end()});
  }
  return first.starts_with("-") ? krl::call_run(words) : wrong_call(first);
}

}  // namespace

int main(int argc, char** argv) {
  krl::keep_streams();
  krl::set_last_words_stream(::fileno(krl::errors()));
  krl::report_crashes();
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    // Nothing of ours throws; a library did, most likely for lack of memory.
    return krl::report({krl::Code::kInternal, e.what()});
  }
}
