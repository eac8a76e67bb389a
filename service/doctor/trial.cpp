#include "service/doctor/trial.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/clock.hpp"
#include "core/plan/loader.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/reward.hpp"
#include "core/plugin/session.hpp"
#include "service/plugins/contract.hpp"

namespace krl::service {
namespace {

std::string required_options(const Component& component) {
  std::string names;
  for (const KeyRule& key : component.keys) {
    if (key.required) names += (names.empty() ? "" : ", ") + key.key;
  }
  return names;
}

std::string about(const BackendInfo& info) { return info.toolchain + ", " + info.device; }

std::string about(const PolicyInfo& info) {
  std::string text = info.description.empty() ? "" : info.description + "; ";
  text += info.trainable ? "can be trained" : "cannot be trained";
  if (info.context_tokens > 0) {
    text += ", " + std::to_string(info.context_tokens) + " tokens of context";
  }
  return text;
}

Result<Findings> question(const Policy& policy, const PolicyInfo& info, Components& components,
                          const TrialSettings& trial) {
  ProbeSettings settings;
  settings.answers = info.needs_corpus ? 0 : trial.answers;
  std::optional<Policy> truth;
  if (!trial.model.empty()) {
    KRL_ASSIGN(
        const ComponentSettings of_model,
        configure_component(Kind::kPolicy, "libtorch", {"model.directory=\"" + trial.model + "\""},
                            components.registry().catalog()));
    KRL_ASSIGN(truth, components.create<Policy>(of_model));
    settings.truth = &*truth;
  }
  return probe(policy, info, settings);
}

Result<Trial> try_policy(const ComponentSettings& settings, Components& components,
                         const TrialSettings& trial) {
  KRL_ASSIGN(const Policy policy, components.create<Policy>(settings));
  KRL_ASSIGN(const PolicyInfo info, policy.describe());
  KRL_ASSIGN(Findings findings, question(policy, info, components, trial));
  return Trial{Trial::kWorks, about(info), std::move(findings)};
}

// A backend that starts may still lack a part that it judges with, so it has to judge.
Result<Trial> try_backend(const ComponentSettings& settings, Components& components) {
  KRL_ASSIGN(const Backend* backend, components.backend(settings));
  const Stopwatch watch;
  KRL_TRY(backend->prepare(doubling_task(), {}));
  return Trial{Trial::kWorks,
               about(backend->info()),
               {{"judged", fmt::format("a small task in {:.1f} s", watch.seconds())}}};
}

Result<Trial> try_dataset(const ComponentSettings& settings, Components& components) {
  KRL_ASSIGN(const Dataset* dataset, components.dataset(settings));
  KRL_ASSIGN(const DatasetItems items, dataset->read_all());
  return Trial{Trial::kWorks,
               std::to_string(items.tasks.size()) + " tasks, " +
                   std::to_string(items.pairs.size()) + " pairs",
               {}};
}

Result<Trial> try_reward(const ComponentSettings& settings, Components& components) {
  KRL_ASSIGN(const Reward reward, components.create<Reward>(settings));
  const std::uint32_t needs = reward.component().needs;
  return Trial{Trial::kWorks, needs == 0 ? "needs no signal" : "needs " + signal_names(needs), {}};
}

// Starts it here, and ends it again.
Result<Trial> start(const Component& component, const Registry& registry,
                    const TrialSettings& trial) {
  KRL_ASSIGN(const ComponentSettings settings,
             configure_component(component.kind, component.id, trial.options, registry.catalog()));
  Session session(registry);
  Components& components = session.components();
  switch (component.kind) {
    case Kind::kPolicy:
      return try_policy(settings, components, trial);
    case Kind::kBackend:
      return try_backend(settings, components);
    case Kind::kDataset:
      return try_dataset(settings, components);
    case Kind::kReward:
      break;
  }
  return try_reward(settings, components);
}

// Removes the component, which is named next to the text: "backend 'x' (create): why" would repeat
// it.
std::string without_component(const std::string& message, const Component& component) {
  const std::string named = std::string(name_of(component.kind)) + " '" + component.id + "' (";
  constexpr std::string_view kEnd = "): ";
  const std::size_t end = message.find(kEnd);
  if (!message.starts_with(named) || end == std::string::npos) return message;
  return message.substr(end + kEnd.size());
}

// Returns the report of the child; plugins' output is left out.
std::string report_of(const Component& component, const Registry& registry,
                      const TrialSettings& settings) {
  const Result<Trial> started = start(component, registry, settings);
  nlohmann::json trial = {{"works", started.has_value()}};
  trial["text"] = started ? started->text : without_component(started.error().message, component);
  if (started) trial["findings"] = started->findings;
  return trial.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Trial trial_of(const ChildEnd& end, std::chrono::seconds limit) {
  if (end.report) {
    const auto trial = nlohmann::json::parse(*end.report);
    return {trial["works"].get<bool>() ? Trial::kWorks : Trial::kFails, trial["text"],
            trial.value("findings", Findings())};
  }
  if (!end.in_time) {
    return {Trial::kFails,
            "did not finish within " + std::to_string(limit.count()) +
                " s; if it just needs more time, raise the limit",
            {}};
  }
  const bool killed = WIFSIGNALED(end.status);
  const std::string how =
      killed ? ::strsignal(WTERMSIG(end.status)) : "it exited without a message";
  return {Trial::kFails, "its process died at startup: " + how, {}};
}

}  // namespace

Trial try_component(const Component& component, const Registry& registry,
                    const TrialSettings& settings) {
  if (std::string names = required_options(component); !names.empty() && settings.options.empty()) {
    return {Trial::kNeedsOptions, std::move(names), {}};
  }
  const auto end = run_in_child([&] { return report_of(component, registry, settings); },
                                settings.limit, settings.output);
  return end ? trial_of(*end, settings.limit) : Trial{Trial::kFails, end.error().message, {}};
}

}  // namespace krl::service
