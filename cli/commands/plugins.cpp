#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kernelrl/spelling.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/plugin_validation.hpp"
#include "cli/policy_options.hpp"
#include "core/base/text.hpp"
#include "core/plan/keys.hpp"
#include "core/plan/loader.hpp"
#include "core/plugin/session.hpp"

namespace krl::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> flag_names(const Component& component) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : {std::pair(KRL_THREAD_SAFE, "thread-safe"),
                                  {KRL_DETERMINISTIC, "deterministic"},
                                  {KRL_NEEDS_GPU, "needs a GPU"},
                                  {KRL_TAKES_HOST, "takes host code"}}) {
    if ((component.flags & bit) != 0) names.emplace_back(name);
  }
  return names;
}

Json to_json(const Component& component) {
  Json options = Json::array();
  for (const KeyRule& key : component.keys) {
    options.push_back({{"key", key.key},
                       {"type", described(key.type)},
                       {"default", key.fallback},
                       {"required", key.required},
                       {"range", key.range},
                       {"doc", key.doc}});
  }
  return {{"kind", name_of(component.kind)},     {"id", component.id},
          {"summary", component.summary},        {"flags", flag_names(component)},
          {"plugin", component.plugin.name},     {"version", component.plugin.version},
          {"licence", component.plugin.license}, {"path", component.plugin.path.string()},
          {"options", std::move(options)}};
}

void list_as_json(const Registry& registry) {
  Json all = Json::array();
  for (const auto& [key, component] : registry.all()) all.push_back(to_json(component));
  print_json(all);
}

void list_as_table(const Registry& registry) {
  std::vector<std::vector<std::string>> rows = {{"KIND", "ID", "VERSION", "LICENCE", "SUMMARY"}};
  for (const auto& [key, component] : registry.all()) {
    rows.push_back({std::string(name_of(component.kind)), component.id, component.plugin.version,
                    component.plugin.license, component.summary});
  }
  print(columns(rows));
}

int list_plugins(const Registry& registry, bool as_json) {
  as_json ? list_as_json(registry) : list_as_table(registry);
  for (const std::string& note : registry.notes()) print_error("note: " + note + "\n");
  for (const Registry::Rejected& rejected : registry.rejected()) {
    print_error("not loaded: " + rejected.path.string() + ": " + rejected.why + "\n");
  }
  return kDone;
}

// The signals that a reward needs, or that a backend, created with its defaults, declares.
std::string signals_of(const Component& component, const Registry& registry) {
  if (component.kind == Kind::kReward) {
    const std::string needs = signal_names(component.needs);
    return "needs     " + (needs.empty() ? "no signal of the backend" : needs) + "\n";
  }
  if (component.kind != Kind::kBackend) return {};
  const auto settings = configure_component(Kind::kBackend, component.id, {}, registry.catalog());
  if (!settings) return "gives     known once its options are set\n";
  Session session(registry);
  const auto backend = session.components().backend(*settings);
  if (!backend) return "gives     unknown: " + backend.error().message + "\n";
  return "gives     " + signal_names((*backend)->info().signals) + "\n";
}

std::string flags_of(const Component& component) {
  const std::vector<std::string> names = flag_names(component);
  return names.empty() ? "" : fmt::format("flags     {}\n", fmt::join(names, ", "));
}

std::string options_of(const Component& component) {
  if (component.keys.empty()) return "options   none\n";
  std::vector<std::vector<std::string>> rows = {{"OPTION", "TYPE", "DEFAULT", "RANGE", "MEANING"}};
  for (const KeyRule& key : component.keys) {
    rows.push_back({key.key, std::string(described(key.type)),
                    key.required ? "required" : one_line(key.fallback), key.range, key.doc});
  }
  return columns(rows);
}

std::string details_of(const Component& component, const Registry& registry) {
  const PluginInfo& plugin = component.plugin;
  return std::string(name_of(component.kind)) + " '" + component.id + "': " + component.summary +
         "\n\nplugin    " + plugin.name + " " + plugin.version + "\nlicence   " + plugin.license +
         "\nbuilt     " + plugin.built_with + "\npath      " + plugin.path.string() + "\n" +
         flags_of(component) + signals_of(component, registry) + "\n" + options_of(component);
}

// Returns the id in "reward.speedup", as plans name a component to replace, or in "speedup".
std::string id_in(const std::string& name, Kind kind) {
  const std::string prefix = std::string(name_of(kind)) + ".";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

// Returns notes on the components of all kinds with this name.
std::vector<std::string> notes_on(const std::string& name, const Registry& registry) {
  std::vector<std::string> notes;
  for (const Kind kind : {Kind::kPolicy, Kind::kBackend, Kind::kReward, Kind::kDataset}) {
    const std::vector<std::string> of_kind = registry.notes_on({kind, id_in(name, kind)});
    notes.insert(notes.end(), of_kind.begin(), of_kind.end());
  }
  return notes;
}

int show_plugin(const CommandLine& line, const Registry& registry, const std::string& name) {
  std::string text;
  Json all = Json::array();
  std::vector<std::string> known;
  for (const auto& [key, component] : registry.all()) {
    known.push_back(component.id);
    if (component.id != id_in(name, component.kind)) continue;
    all.push_back(to_json(component));
    if (!line.has("json")) text += (text.empty() ? "" : "\n") + details_of(component, registry);
  }
  for (const std::string& note : notes_on(name, registry)) print_error(note + "\n");
  if (!all.empty() && line.has("json")) return print_json(all);
  if (!all.empty()) {
    print(text);
    return kDone;
  }
  return line.wrong("there is no component '" + name + "'" +
                    did_you_mean(name, known, "; `kernelrl plugins list` shows all"));
}

}  // namespace

int plugins_command(const Words& words) {
  CommandLine line(
      "kernelrl plugins [list | show ID | validate FILE | install FILE]",
      "list: all loaded components. show: one component, with its options.\n"
      "validate: tries a plugin (NAME.krl.so), or a component in Python (NAME.py), against the rules of its\n"
      "kind, each in a process of its own. install: copies a plugin, or all of a folder, to where every plan\n"
      "finds it.\n");
  add_plugin_path_option(line);
  add_validation_options(line);
  line.flag("json", "list and show: print JSON");
  line.positional({"what", "id"});
  if (const auto over = line.parse(words)) return *over;
  const std::string what = line.text_or("what", "list");
  if (const auto wrong = line.unknown(what, {"list", "show", "validate", "install"})) return *wrong;
  if (what == "list" && line.has("id")) return line.wrong("list takes no id; show does");
  if ((what == "validate" || what == "install") && !line.has("id"))
    return line.wrong("no plugin given: name its file");
  if (what == "validate") return validate_plugin(line);
  if (what == "install") return install_plugin(line);
  if (what == "show" && !line.has("id")) return line.wrong("no component given: name its id");
  const auto registry = load_registry(line);
  if (!registry) return report(registry.error());
  return what == "list" ? list_plugins(*registry, line.has("json"))
                        : show_plugin(line, *registry, line.text("id"));
}

}  // namespace krl::cli
