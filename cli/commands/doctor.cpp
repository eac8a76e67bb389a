#include <algorithm>
#include <cstdio>
#include <kernelrl/spelling.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/plan/built_in.hpp"
#include "core/plan/loader.hpp"
#include "service/doctor/diagnosis.hpp"

namespace krl::cli {
namespace {

constexpr std::uint32_t kMostAnswers = 4096;

using Rows = std::vector<std::vector<std::string>>;

Rows machine_rows(const Diagnosis& found) {
  char memory[32];
  std::snprintf(memory, sizeof memory, "%.1f GiB", found.machine.memory_gib);
  Rows rows = {
      {"  processor", found.machine.processor + ", " + std::to_string(found.machine.cores) +
                          (found.machine.cores == 1 ? " core" : " cores")},
      {"  memory", memory},
      {"  system", found.machine.system}};
  for (const MachineFeature& feature : found.features) {
    const std::string lacking = "no: " + feature.problem;
    rows.push_back({"  " + feature.name, feature.found.empty() ? lacking : feature.found});
  }
  return rows;
}

Rows plugin_rows(const Diagnosis& found) {
  Rows rows;
  for (const auto& [folder, count] : found.folders) {
    rows.push_back(
        {"  " + folder, std::to_string(count) + (count == 1 ? " component" : " components")});
  }
  for (const Registry::Rejected& rejected : found.rejected) {
    rows.push_back({"  " + rejected.path.string(), "not loaded: " + rejected.why});
  }
  return rows;
}

Rows component_rows(const Diagnosis& found) {
  Rows rows;
  for (const auto& [component, trial] : found.tried) {
    rows.push_back({"  " + std::string(name_of(component->kind)), component->id,
                    std::string(name_of(trial.outcome)) + ": " + trial.text});
    for (const auto& [name, value] : trial.findings) rows.push_back({"", "", name + ": " + value});
  }
  return rows;
}

std::string as_text(const Diagnosis& found) {
  return "machine\n" + columns(machine_rows(found)) + "\nplans, presets, prompts, tasks\n  " +
         built_in_configs().string() + "\n\nplugins\n" + columns(plugin_rows(found)) +
         "\ncomponents\n" + columns(component_rows(found));
}

// True if all of the named components are fine; without names, one backend is enough to begin with.
bool is_fine(const Diagnosis& found, bool named) {
  const auto works = [](const Diagnosis::Tried& e) { return e.trial.outcome == Trial::kWorks; };
  const auto backend = [&](const Diagnosis::Tried& e) {
    return e.component->kind == Kind::kBackend && works(e);
  };
  const auto& all = found.tried;
  return named ? std::all_of(all.begin(), all.end(), works)
               : std::any_of(all.begin(), all.end(), backend);
}

// A wrong option is the call's fault, not the component's.
Status check_options(const std::vector<const Component*>& components, const Words& options,
                     const Registry& registry) {
  if (options.empty()) return {};
  for (const Component* component : components) {
    KRL_TRY(configure_component(component->kind, component->id, options, registry.catalog()));
  }
  return {};
}

int wrong_component(const CommandLine& line, const Registry& registry, const std::string& id) {
  std::vector<std::string> known;
  for (const auto& [key, component] : registry.all()) known.push_back(component.id);
  return line.wrong("there is no component '" + id + "'" +
                    did_you_mean(id, known, "; `kernelrl plugins` lists all"));
}

void add_options(CommandLine& line) {
  line.flag("json", "print one JSON object");
  line.repeatable("set", "KEY=VALUE", "an option of the component ID (repeatable)");
  line.option("limit", "SECONDS", "time limit for each component", "60");
  line.option("answers", "N", "number of answers to request from the policy ID at once; 0 = none",
              "8");
  line.option(
      "model", "DIR",
      "a Hugging Face directory; the log-probabilities of the policy ID are compared with those of this model");
  add_plugin_path_option(line);
}

}  // namespace

int doctor_command(const Words& words) {
  CommandLine line(
      "kernelrl doctor [ID [--set KEY=VALUE]…] [--json]",
      "Reports what this machine has, which plugins were found, and whether each backend and\npolicy starts with its defaults; with ID, only whether that component starts with the\ngiven options. A backend judges a small task; a policy named by ID answers some\nquestions, which shows how fast it is; a dataset named by ID is read.\nThe exit code is 0 if the component ID works; without ID, if any backend does.\n");
  add_options(line);
  line.positional({"id"});
  if (const auto over = line.parse(words)) return *over;
  const auto limit = number_in<unsigned>(line.text("limit"));
  if (!limit || *limit == 0)
    return line.wrong("--limit takes whole seconds, not '" + line.text("limit") + "'");
  if (line.has("set") && !line.has("id")) return line.wrong("--set requires the ID of a component");
  const auto loaded = load_registry(line);
  if (!loaded) return report(loaded.error());
  const Registry& registry = *loaded;
  const std::string id = line.text_or("id");
  const std::vector<const Component*> components = components_to_try(registry, id);
  if (components.empty() && !id.empty()) return wrong_component(line, registry, id);
  if (const Status good = check_options(components, line.texts("set"), registry); !good) {
    return report(good.error());
  }
  const auto answers = number_in<std::uint32_t>(line.text("answers"));
  if (!answers || *answers > kMostAnswers) {
    return line.wrong("--answers takes a number up to " + std::to_string(kMostAnswers) + ", not '" +
                      line.text("answers") + "'");
  }
  const TrialSettings settings{
      line.texts("set"), std::chrono::seconds(*limit), id.empty() ? 0 : *answers,
      line.has("model") ? std::filesystem::absolute(line.text("model")).string() : "",
      id.empty() ? ChildOutput::kDropped : ChildOutput::kShown};
  const Diagnosis found = diagnose(registry, components, settings);
  print(line.has("json")
            ? to_json(found).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
            : as_text(found));
  return is_fine(found, !id.empty()) ? kDone : kRunFailed;
}

}  // namespace krl::cli
