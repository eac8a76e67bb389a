#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/plugin/session.hpp"
#include "service/kernels/kernel_judges.hpp"
#include "service/runs/definition_files.hpp"
#include "service/runs/runs.hpp"
#include "service/runs/verification.hpp"

namespace krl::cli {
namespace {

// The plan of the run. --set changes it, unless it is about another backend.
Result<LoadedPlan> load_plan_to_verify(const RunInfo& run, const CommandLine& line) {
  KRL_ASSIGN(PlanOptions options, plan_options(line));
  if (line.has("backend")) options.changes.clear();
  return service::load_plan_of(RunLayout{run.directory}.plan(), options);
}

Result<VerificationOptions> verification_options(const CommandLine& line,
                                                 const LoadedPlan& loaded) {
  const Settings& settings = *loaded.plan.in_force().back();
  VerificationOptions options{
      settings.backend, settings.rollout, loaded.plan.run.seed, line.has("best"), {}};
  if (line.has("backend")) {
    KRL_ASSIGN(options.backend,
               backend_settings(line.text("backend"), line.texts("set"), {}, {}, loaded.registry));
  }
  if (line.has("sample")) {
    options.sample = number_in<std::size_t>(line.text("sample"));
    if (!options.sample) return invalid("--sample needs a whole number");
  }
  return options;
}

std::string summary(const Verification& v) {
  std::string text =
      fmt::format("{} of best/ and {} of samples/ evaluated again: {} differ, {} not judged\n",
                  v.best, v.samples, v.differ, v.not_judged);
  if (v.other_device > 0)
    text += fmt::format("{} were timed on another device: their times are not compared\n",
                        v.other_device);
  if (v.without_source > 0)
    text += fmt::format(
        "the ledger has {} more: hold-outs, second evaluations, and answers that were not kept\n",
        v.without_source);
  return text;
}

Result<int> verify(const CommandLine& line) {
  KRL_ASSIGN(const RunInfo run, find_run(line.text("directory"), line.text("run")));
  KRL_ASSIGN(const LoadedPlan loaded, load_plan_to_verify(run, line));
  KRL_ASSIGN(const VerificationOptions options, verification_options(line, loaded));
  Session session(loaded.registry, print_warning);
  KRL_ASSIGN(const std::vector<Task> tasks, tasks_of_plan(loaded.plan, session.components()));
  KRL_ASSIGN(const Verification found,
             verify_run({run.directory}, tasks, options, session.components(),
                        [](const std::string& name, const std::string& how) {
                          print(name + ": " + how + "\n");
                        }));
  print(summary(found));
  return found.differ + found.not_judged == 0 ? kDone : kRunFailed;
}

}  // namespace

int verify_command(const Words& words) {
  CommandLine line(
      "kernelrl verify RUN [--best | --sample N] [--backend B]",
      "Evaluates the kernels of a run again, those of best/ and those of its ledger whose answers are\n"
      "in samples/, and lists figures that are others here: verdicts, and speedups whose intervals do\n"
      "not overlap. Exit code 0 if there are none, 1 otherwise.\n");
  line.flag("best", "only the kernels of best/");
  line.option("sample", "N", "only N of the other kernels");
  line.option("backend", "ID", "a backend instead of the plan's; --set then changes its options");
  line.option("directory", "DIR", "folder of the runs", "runs");
  add_plan_options(line);
  line.positional({"run"});
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("run")) return line.wrong("no run given: name one, or its folder");
  if (line.has("best") && line.has("sample"))
    return line.wrong("--best leaves out what --sample chooses from; give only one of them");
  return exit_code_of(verify(line));
}

}  // namespace krl::cli
