#include "service/plans/policy_evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/episode/sample_record.hpp"

namespace krl::service {
namespace {

using nlohmann::json;

// The stage's settings with those tasks alone that are asked for.
Result<Settings> settings_of(const ChosenPolicy& chosen, const PolicyEvaluationOptions& options) {
  Settings settings = chosen.settings();
  const auto is_asked_for = [&](const DatasetSettings& dataset) {
    return (dataset.role == DatasetRole::kTrain && options.train) ||
           (dataset.role == DatasetRole::kHoldout && options.holdout);
  };
  auto& datasets = settings.datasets;
  std::erase_if(datasets, [&](const DatasetSettings& dataset) {
    return !is_asked_for(dataset) && dataset.role != DatasetRole::kRetrieval;
  });
  if (std::any_of(datasets.begin(), datasets.end(), is_asked_for)) return settings;
  const char* role = options.train ? "train" : "holdout";
  const std::string stage = chosen.stage_name();
  return invalid(fmt::format(
      "{}: {} has no tasks to evaluate on: add [[dataset]] with role = \"{}\"",
      chosen.plan().file.string(), stage.empty() ? "the plan" : "stage '" + stage + "'", role));
}

Status check_any_tasks(const StageData& data) {
  const auto has_tasks = [](const Holdout& set) { return !set.tasks.empty(); };
  const bool any =
      !data.tasks.empty() || std::any_of(data.holdouts.begin(), data.holdouts.end(), has_tasks);
  if (any) return {};
  return failure(data.empty.begin()->second);  // the requested set exists, and is empty
}

}  // namespace

std::vector<std::size_t> default_ks(std::int64_t samples) {
  constexpr std::size_t kNextK = 4;
  const auto most = static_cast<std::size_t>(samples);
  std::vector<std::size_t> ks;
  for (std::size_t k = 1; k < most; k *= kNextK) ks.push_back(k);
  ks.push_back(most);
  return ks;
}

Result<PolicyEvaluation> evaluate_policy(const ChosenPolicy& chosen,
                                         const PolicyEvaluationOptions& options,
                                         Components& components) {
  KRL_ASSIGN(const Settings settings, settings_of(chosen, options));
  KRL_TRY(check_batching(chosen.plan().policy, settings.rollout, components.registry()));
  KRL_ASSIGN(const StageSetup setup, set_up(settings, components));
  for (const std::string& warning : setup.data.warnings) options.warn(warning);
  KRL_TRY(check_any_tasks(setup.data));
  KRL_ASSIGN(const Policy policy, open_policy(chosen, components));
  std::string answers;
  const auto keep_answers = [&](std::string_view set, const std::vector<Episode>& episodes) {
    for (const Episode& episode : episodes) {
      for (json& record : sample_records(episode, setup.terms)) {
        record["set"] = set;
        answers += sample_line(record) + "\n";
      }
    }
  };
  KRL_ASSIGN(std::vector<Measurement> sets, measure_policy({.policy = policy,
                                                            .settings = settings,
                                                            .setup = setup,
                                                            .samples = options.samples,
                                                            .ks = options.ks,
                                                            .run_seed = chosen.plan().run.seed,
                                                            .progress = options.progress,
                                                            .played = keep_answers}));
  return PolicyEvaluation{std::move(sets), setup.backends.backend->info(), std::move(answers)};
}

json to_json(const ChosenPolicy& chosen, const PolicyEvaluationOptions& options,
             const PolicyEvaluation& results) {
  const Settings& settings = chosen.settings();
  json object = {{"plan", chosen.plan().file.string()},
                 {"stage", nullptr},
                 {"policy", chosen.plan().policy.use},
                 {"checkpoint", nullptr},
                 {"backend", settings.backend.use},
                 {"toolchain", results.backend.toolchain},
                 {"device", results.backend.device},
                 {"seed", chosen.plan().run.seed},
                 {"samples", options.samples},
                 {"turns", settings.rollout.turns},
                 {"temperature", settings.rollout.temperature},
                 {"sets", json::array()}};
  if (!chosen.stage_name().empty()) object["stage"] = chosen.stage_name();
  if (chosen.checkpoint) object["checkpoint"] = chosen.checkpoint->directory.string();
  for (const Measurement& set : results.sets) object["sets"].push_back(core::to_json(set));
  return object;
}

}  // namespace krl::service
