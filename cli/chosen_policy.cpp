#include "cli/chosen_policy.hpp"

#include <algorithm>
#include <kernelrl/spelling.hpp>

#include "cli/console.hpp"
#include "cli/runs.hpp"
#include "core/plan/source.hpp"
#include "core/run/run_directory.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace po = boost::program_options;
namespace {

constexpr const char* kRuns = "runs";  // the default of run.directory

Result<std::size_t> chosen_stage(const Plan& plan, const CommandLine& line) {
  const auto& stages = plan.stages;
  if (line.has("stage")) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].name == line.text("stage")) return i;
      names.push_back(stages[i].name);
    }
    return invalid("the plan has no stage '" + line.text("stage") + "'" +
                   did_you_mean(line.text("stage"), names, ""));
  }
  if (stages.empty()) return 0;
  const auto last = std::find_if(stages.rbegin(), stages.rend(), [](const StageSettings& stage) {
    return stage.kind == StageKind::kRl;
  });
  return last == stages.rend() ? stages.size() - 1
                               : static_cast<std::size_t>(stages.rend() - last) - 1;
}

Result<Checkpoint> checkpoint_of_run(const fs::path& directory) {
  std::vector<std::string> warnings;
  const fs::path checkpoints = RunLayout{directory}.checkpoints();
  KRL_ASSIGN(std::optional<Checkpoint> newest, newest_checkpoint(checkpoints, warnings));
  for (const std::string& warning : warnings) print_warning(warning);
  if (newest) return *std::move(newest);
  return failure(Code::kNotFound, "there is no checkpoint in " + checkpoints.string() + " yet");
}

}  // namespace

void add_policy_options(CommandLine& line) {
  line.options()("plan", po::value<std::string>()->value_name("PLAN"), "the plan of the policy")(
      "run", po::value<std::string>()->value_name("NAME"),
      "the newest checkpoint of this run, and its plan")(
      "checkpoint", po::value<std::string>()->value_name("DIR"),
      "this checkpoint: runs/NAME/checkpoints/step_000020, or …/checkpoints/best")(
      "stage", po::value<std::string>()->value_name("NAME"),
      "settings of this stage; by default the last rl stage's");
  add_plan_options(line);
}

bool names_policy(const CommandLine& line) { return line.has("plan") || line.has("run"); }

Result<ChosenPolicy> choose_policy(const CommandLine& line) {
  if (line.has("run") && line.has("checkpoint"))
    return invalid("--run and --checkpoint both select a checkpoint; use only one of them");
  ChosenPolicy chosen;
  fs::path root = kRuns;
  if (line.has("plan")) {
    KRL_ASSIGN(chosen.loaded, load_plan_of(line.text("plan"), line));
    root = chosen.plan().run.directory.parent_path();
  }
  if (line.has("run")) {
    KRL_ASSIGN(const RunInfo run, find_run(root, line.text("run")));
    if (!line.has("plan")) {
      KRL_ASSIGN(chosen.loaded, load_plan_of(RunLayout{run.directory}.plan(), line));
    }
    KRL_ASSIGN(chosen.checkpoint, checkpoint_of_run(run.directory));
  }
  if (line.has("checkpoint")) {
    KRL_ASSIGN(chosen.checkpoint, read_checkpoint(line.text("checkpoint")));
  }
  KRL_ASSIGN(chosen.stage, chosen_stage(chosen.plan(), line));
  return chosen;
}

void show_notes(const ChosenPolicy& chosen) {
  for (const std::string& note : chosen.plan().notes) print_error(note + "\n");
}

Result<Policy> open_policy(const ChosenPolicy& chosen, Components& components) {
  const ComponentSettings& settings = chosen.plan().policy;
  KRL_ASSIGN(Policy policy, components.create<Policy>(settings));
  if (chosen.checkpoint) KRL_TRY(policy.load(chosen.checkpoint->policy().string()));
  KRL_ASSIGN(const PolicyInfo info, policy.describe());
  if (!info.needs_corpus) {
    if (info.trainable) KRL_TRY(policy.publish());
    return policy;
  }
  return failure(problem_at(settings.origin,
                            "policy '" + settings.use + "' starts from scratch and is untrained",
                            "select a trained checkpoint: --run NAME or --checkpoint DIR"));
}

}  // namespace krl::cli
