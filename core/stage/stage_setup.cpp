#include "core/stage/stage_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/log.hpp"
#include "core/plan/source.hpp"

namespace krl::core {
namespace {

Status check_signals(const RewardSettings& settings, const Component& reward,
                     const ComponentSettings& backend, const BackendInfo& info) {
  const std::uint32_t missing = reward.needs & ~info.signals;
  if (missing == 0) return {};
  return failure(
      problem_at(settings.origin,
                 fmt::format("reward '{}' needs {}, which backend '{}' does not measure",
                             settings.use, signal_names(missing), backend.use),
                 fmt::format("remove this term, or choose another backend   '{}' measures: {}",
                             backend.use, signal_names(info.signals))));
}

Status check_contract(const ComponentSettings& backend, Contract contract, const char* hint,
                      const Registry& registry) {
  KRL_ASSIGN(const Component* component, registry.require(Kind::kBackend, backend.use));
  const Status takes = Backend::check_contract(*component, contract);
  if (takes) return {};
  return failure(problem_at(backend.origin, takes.error().message, hint));
}

Status check_contract(const Settings& settings, const Registry& registry) {
  const Contract contract = settings.rollout.contract;
  KRL_TRY(check_contract(
      settings.backend, contract,
      "set rollout.contract = \"device\", or use a backend that compiles host code, such as 'nvcc'",
      registry));
  for (const ComponentSettings* other : settings.backend.others()) {
    KRL_TRY(check_contract(*other, contract,
                           "remove this table, or set rollout.contract = \"device\"", registry));
  }
  return {};
}

// `info`: null if the backend cannot be asked.
Result<PromptBuilder> load_prompts(const Settings& settings, const BackendInfo* info) {
  TimedOn timed_on;
  if (info != nullptr) timed_on = {info->device, info->real_sizes};
  return PromptBuilder::load(settings.prompt.templates, settings.prompt.system,
                             settings.rollout.contract, std::move(timed_on));
}

// Opens the dataset of the role "retrieval"; null if there is none.
Result<std::unique_ptr<Retrieval>> open_retrieval(const Settings& settings,
                                                  const PromptBuilder& prompts,
                                                  Components& components) {
  const auto& datasets = settings.datasets;
  const auto found = std::ranges::find_if(
      datasets, [](const auto& dataset) { return dataset.role == DatasetRole::kRetrieval; });
  if (found == datasets.end()) return nullptr;
  KRL_ASSIGN(const Component* component, components.registry().require(Kind::kDataset, found->use));
  if (!Dataset::can_find(*component)) {
    return failure(problem_at(
        found->origin, fmt::format("dataset '{}' cannot be searched for documents", found->use),
        "build an index of its documents with `kernelrl index build`, and use = \"index\""));
  }
  if (!prompts.can_show_documents()) {
    return failure(problem_at(
        found->origin, "the plan's prompts have no place for documents",
        "add a line {{documents}} to task.txt in the folder of prompt.templates, and a file document.txt such as prompts/default has"));
  }
  KRL_ASSIGN(const Dataset* dataset, components.dataset(*found));
  return std::make_unique<Retrieval>(*dataset, settings.retrieval);
}

// Keeps what only this machine lacks: something is missing or does not answer, and the plan is not
// to blame. Any other error is passed on.
Status note_missing(const Error& error, std::map<std::string, Error>& missing) {
  if (error.code != Code::kFailedPrecondition && error.code != Code::kUnavailable)
    return failure(error);
  missing.emplace(error.message, error);
  return {};
}

Status check_datasets(const std::vector<DatasetSettings>& datasets, Components& components,
                      std::map<std::string, Error>& missing) {
  for (const DatasetSettings& settings : datasets) {
    if (settings.role == DatasetRole::kRetrieval) continue;
    const auto dataset = components.dataset(settings);
    if (!dataset) KRL_TRY(note_missing(dataset.error(), missing));
  }
  return {};
}

void warn_of_limit(const Backend& backend) {
  const BackendInfo& info = backend.info();
  if (info.declared <= CallScope::kMostThreads || info.concurrency < CallScope::kMostThreads)
    return;
  log(Severity::kWarning,
      fmt::format(
          "backend '{}' asks for {} concurrent evaluations and gets {}, the maximum that run.threads allows",
          backend.component().id, info.declared, info.concurrency));
}

}  // namespace

Result<Scorer> create_scorer(const Settings& settings, const BackendInfo* info,
                             Components& components) {
  std::vector<RewardTerm> terms;
  for (const RewardSettings& r : settings.rewards) {
    KRL_ASSIGN(Reward reward, components.create<Reward>(r));
    if (info != nullptr) {
      KRL_TRY(check_signals(r, reward.component(), settings.backend, *info));
    }
    terms.push_back({std::move(reward), r.name, r.weight, r.when});
  }
  return Scorer(std::move(terms));
}

Status check_batching(const ComponentSettings& sampler, const RolloutSettings& rollout,
                      const Registry& registry) {
  if (rollout.batching != Batching::kContinuous) return {};
  KRL_ASSIGN(const Component* component, registry.require(Kind::kPolicy, sampler.use));
  if (Policy::can_stream(*component)) return {};
  return failure(problem_at(
      sampler.origin,
      fmt::format(
          "policy '{}' cannot accept new requests while it answers others, which rollout.batching = \"continuous\" requires",
          sampler.use),
      "set rollout.batching = \"waves\", or choose another policy"));
}

Result<StageSetup> set_up(const Settings& settings, Components& components) {
  StageSetup setup;
  KRL_TRY(check_contract(settings, components.registry()));
  KRL_ASSIGN(setup.backends, open_backends(settings.backend, components));
  warn_of_limit(*setup.backends.backend);
  const BackendInfo* info = &setup.backends.backend->info();
  KRL_ASSIGN(setup.prompts, load_prompts(settings, info));
  KRL_ASSIGN(setup.retrieval, open_retrieval(settings, *setup.prompts, components));
  KRL_ASSIGN(setup.scorer, create_scorer(settings, info, components));
  for (const RewardTerm& term : setup.scorer->terms()) setup.terms.push_back(term.name);
  KRL_ASSIGN(setup.data, read_datasets(settings.datasets, components));
  return setup;
}

Status check_settings(const Settings& settings, const Plan& plan, Components& components,
                      std::map<std::string, Error>& missing) {
  KRL_TRY(check_contract(settings, components.registry()));
  KRL_TRY(check_batching(plan.policy.who_samples(), settings.rollout, components.registry()));
  const Result<const Backend*> backend = components.backend(settings.backend);
  if (!backend) KRL_TRY(note_missing(backend.error(), missing));
  for (const ComponentSettings* other : settings.backend.others()) {
    const auto opened = components.backend(*other);
    if (!opened) KRL_TRY(note_missing(opened.error(), missing));
  }
  const BackendInfo* info = backend ? &(*backend)->info() : nullptr;
  KRL_TRY(create_scorer(settings, info, components));
  KRL_TRY(check_datasets(settings.datasets, components, missing));
  KRL_ASSIGN(const PromptBuilder prompts, load_prompts(settings, info));
  const auto retrieval = open_retrieval(settings, prompts, components);
  return retrieval ? Status() : note_missing(retrieval.error(), missing);
}

}  // namespace krl::core
