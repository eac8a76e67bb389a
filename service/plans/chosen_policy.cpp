#include "service/plans/chosen_policy.hpp"

#include <algorithm>
#include <kernelrl/spelling.hpp>

#include "core/plan/source.hpp"
#include "core/run/run_directory.hpp"
#include "service/runs/runs.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRuns = "runs";  // the default of run.directory

Result<std::size_t> chosen_stage(const Plan& plan, const std::string& name) {
  const auto& stages = plan.stages;
  if (!name.empty()) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].name == name) return i;
      names.push_back(stages[i].name);
    }
    return invalid("the plan has no stage '" + name + "'" + did_you_mean(name, names, ""));
  }
  if (stages.empty()) return 0;
  const auto last = std::find_if(stages.rbegin(), stages.rend(), [](const StageSettings& stage) {
    return stage.kind == StageKind::kRl;
  });
  return last == stages.rend() ? stages.size() - 1
                               : static_cast<std::size_t>(stages.rend() - last) - 1;
}

Result<Checkpoint> checkpoint_of_run(const fs::path& directory,
                                     std::vector<std::string>& warnings) {
  const fs::path checkpoints = RunLayout{directory}.checkpoints();
  KRL_ASSIGN(std::optional<Checkpoint> newest, newest_checkpoint(checkpoints, warnings));
  if (newest) return *std::move(newest);
  return failure(Code::kNotFound, "there is no checkpoint in " + checkpoints.string() + " yet");
}

// Loads what the policy has learned. A run that only searched used what another had learned.
Status load_state(const ChosenPolicy& chosen, const Policy& policy) {
  if (!chosen.checkpoint) return {};
  if (chosen.checkpoint->learned()) return policy.load(chosen.checkpoint->policy().string());
  const fs::path& from = chosen.plan().run.from;
  if (from.empty()) return {};
  KRL_ASSIGN(const Checkpoint learned, read_checkpoint(from));
  return policy.load(learned.policy().string());
}

}  // namespace

Result<ChosenPolicy> choose_policy(const PolicyChoice& choice) {
  if (choice.plan.empty() && choice.run.empty()) return invalid("name a plan or a run");
  ChosenPolicy chosen;
  fs::path root = kRuns;
  if (!choice.plan.empty()) {
    KRL_ASSIGN(chosen.loaded, load_plan_of(choice.plan, choice.options));
    root = chosen.plan().run.directory.parent_path();
  }
  if (!choice.run.empty()) {
    KRL_ASSIGN(const RunInfo run, find_run(root, choice.run));
    if (choice.plan.empty()) {
      KRL_ASSIGN(chosen.loaded, load_plan_of(RunLayout{run.directory}.plan(), choice.options));
    }
    KRL_ASSIGN(chosen.checkpoint, checkpoint_of_run(run.directory, chosen.warnings));
  }
  if (!choice.checkpoint.empty()) {
    KRL_ASSIGN(chosen.checkpoint, read_checkpoint(choice.checkpoint));
  }
  KRL_ASSIGN(chosen.stage, chosen_stage(chosen.plan(), choice.stage));
  return chosen;
}

Result<Policy> open_policy(const ChosenPolicy& chosen, Components& components) {
  const ComponentSettings& settings = chosen.plan().policy;
  if (settings.use.empty()) {
    return failure(
        problem_at(chosen.plan().document->origin, "the plan has no policy to evaluate",
                   "add [policy] with use = \"…\"; `kernelrl plugins` lists the choices"));
  }
  KRL_ASSIGN(Policy policy, components.create<Policy>(settings));
  KRL_TRY(load_state(chosen, policy));
  KRL_ASSIGN(const PolicyInfo info, policy.describe());
  if (!info.needs_corpus) {
    if (info.trainable) KRL_TRY(policy.publish());
    return policy;
  }
  return failure(problem_at(settings.origin,
                            "policy '" + settings.use + "' starts from scratch and is untrained",
                            "select a trained run or a checkpoint"));
}

}  // namespace krl::service
