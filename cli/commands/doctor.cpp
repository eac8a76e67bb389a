#include <algorithm>
#include <charconv>
#include <cstdio>
#include <kernelrl/spelling.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/doctor/machine.hpp"
#include "cli/doctor/trial.hpp"
#include "cli/loaded_plan.hpp"
#include "core/plan/loader.hpp"
#include "core/run/run_record.hpp"

namespace krl::cli {
namespace po = boost::program_options;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMostAnswers = 4096;

struct Tried {
  const Component* component;
  Trial trial;
};

struct Report {
  MachineRecord machine;
  std::vector<MachineFeature> features;
  std::map<std::string, int> folders;  // folders of plugins: numbers of components
  std::vector<Registry::Rejected> rejected;
  std::vector<Tried> tried;
};

// Returns the components called `id`; without one, those that depend on the machine: backends, then
// policies.
std::vector<const Component*> components_to_try(const Registry& registry, const std::string& id) {
  std::vector<Kind> kinds = {Kind::kBackend, Kind::kPolicy};
  if (!id.empty()) kinds.insert(kinds.end(), {Kind::kReward, Kind::kDataset});
  std::vector<const Component*> chosen;
  for (const Kind kind : kinds) {
    for (const auto& [key, component] : registry.all()) {
      if (component.kind != kind) continue;
      if (id.empty() || component.id == id) chosen.push_back(&component);
    }
  }
  return chosen;
}

Report try_components(const Registry& registry, const std::vector<const Component*>& components,
                      const TrialSettings& settings) {
  Report report{this_machine(), machine_features(), {}, registry.rejected(), {}};
  for (const auto& [key, component] : registry.all()) {
    ++report.folders[component.plugin.path.parent_path().string()];
  }
  for (const Component* component : components) {
    report.tried.push_back({component, try_component(*component, registry, settings)});
  }
  return report;
}

const char* name_of(Trial::Outcome outcome) {
  switch (outcome) {
    case Trial::kWorks:
      return "ok";
    case Trial::kNeedsOptions:
      return "needs options";
    case Trial::kFails:
      break;
  }
  return "fails";
}

using Rows = std::vector<std::vector<std::string>>;

Rows machine_rows(const Report& report) {
  char memory[32];
  std::snprintf(memory, sizeof memory, "%.1f GiB", report.machine.memory_gib);
  Rows rows = {
      {"  processor", report.machine.processor + ", " + std::to_string(report.machine.cores) +
                          (report.machine.cores == 1 ? " core" : " cores")},
      {"  memory", memory},
      {"  system", report.machine.system}};
  for (const MachineFeature& feature : report.features) {
    const std::string lacking = "no: " + feature.problem;
    rows.push_back({"  " + feature.name, feature.found.empty() ? lacking : feature.found});
  }
  return rows;
}

Rows plugin_rows(const Report& report) {
  Rows rows;
  for (const auto& [folder, count] : report.folders) {
    rows.push_back(
        {"  " + folder, std::to_string(count) + (count == 1 ? " component" : " components")});
  }
  for (const Registry::Rejected& rejected : report.rejected) {
    rows.push_back({"  " + rejected.path.string(), "not loaded: " + rejected.why});
  }
  return rows;
}

Rows component_rows(const Report& report) {
  Rows rows;
  for (const auto& [component, trial] : report.tried) {
    rows.push_back({"  " + std::string(name_of(component->kind)), component->id,
                    std::string(name_of(trial.outcome)) + ": " + trial.text});
    for (const auto& [name, value] : trial.findings) rows.push_back({"", "", name + ": " + value});
  }
  return rows;
}

std::string as_text(const Report& report) {
  return "machine\n" + columns(machine_rows(report)) + "\nplugins\n" +
         columns(plugin_rows(report)) + "\ncomponents\n" + columns(component_rows(report));
}

Json as_json(const Report& report) {
  Json features = Json::array(), folders = Json::array(), rejected = Json::array(),
       components = Json::array();
  for (const MachineFeature& f : report.features) {
    features.push_back({{"name", f.name}, {"found", f.found}, {"problem", f.problem}});
  }
  for (const auto& [path, count] : report.folders) {
    folders.push_back({{"path", path}, {"components", count}});
  }
  for (const Registry::Rejected& r : report.rejected) {
    rejected.push_back({{"path", r.path.string()}, {"why", r.why}});
  }
  for (const auto& [component, trial] : report.tried) {
    Json findings = Json::object();
    for (const auto& [name, value] : trial.findings) findings[name] = value;
    components.push_back({{"kind", name_of(component->kind)},
                          {"id", component->id},
                          {"outcome", name_of(trial.outcome)},
                          {"text", trial.text},
                          {"findings", findings}});
  }
  return {{"version", KERNELRL_VERSION},
          {"machine",
           {{"processor", report.machine.processor},
            {"cores", report.machine.cores},
            {"memory_gib", report.machine.memory_gib},
            {"system", report.machine.system},
            {"features", features}}},
          {"plugins", {{"folders", folders}, {"not_loaded", rejected}}},
          {"components", components}};
}

// True if all of the named components are fine; without names, one backend is enough to begin with.
bool is_fine(const Report& report, bool named) {
  const auto works = [](const Tried& e) { return e.trial.outcome == Trial::kWorks; };
  const auto backend = [&](const Tried& e) {
    return e.component->kind == Kind::kBackend && works(e);
  };
  const auto& all = report.tried;
  return named ? std::all_of(all.begin(), all.end(), works)
               : std::any_of(all.begin(), all.end(), backend);
}

// "16"; nothing if it is not such a number.
std::optional<std::uint32_t> answers_of(const std::string& text) {
  std::uint32_t answers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), answers);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && answers <= kMostAnswers ? std::optional(answers) : std::nullopt;
}

std::optional<std::chrono::seconds> seconds_of(const std::string& text) {
  unsigned seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds == 0) return std::nullopt;
  return std::chrono::seconds(seconds);
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
  line.options()("json", "print one JSON object")("set",
                                                  po::value<Words>()->value_name("KEY=VALUE"),
                                                  "an option of the component ID (repeatable)")(
      "limit", po::value<std::string>()->value_name("SECONDS")->default_value("60"),
      "time limit for each component")(
      "answers", po::value<std::string>()->value_name("N")->default_value("8"),
      "number of answers to request from the policy ID at once; 0 = none")(
      "model", po::value<std::string>()->value_name("DIR"),
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
  const auto limit = seconds_of(line.text("limit"));
  if (!limit) return line.wrong("--limit takes whole seconds, not '" + line.text("limit") + "'");
  if (line.has("set") && !line.has("id")) return line.wrong("--set requires the ID of a component");
  const auto loaded = load_registry(line);
  if (!loaded) return report(loaded.error());
  const Registry& registry = *loaded;
  const std::string id = line.has("id") ? line.text("id") : "";
  const std::vector<const Component*> components = components_to_try(registry, id);
  if (components.empty() && !id.empty()) return wrong_component(line, registry, id);
  if (const Status good = check_options(components, line.texts("set"), registry); !good) {
    return report(good.error());
  }
  const auto answers = answers_of(line.text("answers"));
  if (!answers) {
    return line.wrong("--answers takes a number up to " + std::to_string(kMostAnswers) + ", not '" +
                      line.text("answers") + "'");
  }
  const TrialSettings settings{
      line.texts("set"), *limit, id.empty() ? 0 : *answers,
      line.has("model") ? std::filesystem::absolute(line.text("model")).string() : ""};
  const Report found = try_components(registry, components, settings);
  print(line.has("json")
            ? as_json(found).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
            : as_text(found));
  return is_fine(found, !id.empty()) ? kDone : kRunFailed;
}

}  // namespace krl::cli
