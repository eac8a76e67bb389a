#include "cli/plugin_validation.hpp"

#include <fmt/format.h>

#include <kernelrl/spelling.hpp>

#include "cli/console.hpp"
#include "cli/policy_options.hpp"
#include "core/base/text.hpp"
#include "service/plugins/installation.hpp"
#include "service/plugins/validation.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
using namespace service;
namespace {

constexpr int kMostSeconds = 86'400;

// Components to try, from a registry that outlives them.
struct Subjects {
  Registry registry;
  std::vector<const Component*> components;
  Words options;
};

// The components of a plugin's file that the call means: all, or that of --component.
Result<Subjects> of_library(const fs::path& file, const CommandLine& line) {
  Subjects subjects{Registry::load_file(file), {}, line.texts("set")};
  if (!subjects.registry.rejected().empty())
    return invalid(file.string() +
                   " cannot be loaded: " + subjects.registry.rejected().front().why);
  std::vector<std::string> ids;
  for (const auto& [key, component] : subjects.registry.all()) {
    ids.push_back(component.id);
    if (!line.has("component") || line.text("component") == component.id)
      subjects.components.push_back(&component);
  }
  if (subjects.components.empty())
    return invalid("the plugin has no component '" + line.text("component") + "'" +
                   did_you_mean(line.text("component"), ids));
  return subjects;
}

// A file in Python, as the component `python` of its kind runs it.
Result<Subjects> of_script(const fs::path& file, const CommandLine& line) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return invalid("there is no file " + file.string());
  if (!line.has("kind"))
    return invalid(
        "a file in Python can be of any kind: add --kind reward, dataset, backend or policy");
  KRL_ASSIGN(Registry registry, load_registry(line));
  Subjects subjects{std::move(registry), {}, line.texts("set")};
  std::error_code ignored;
  subjects.options.insert(subjects.options.begin(),
                          "file=\"" + fs::absolute(file, ignored).string() + "\"");
  for (const auto& [key, component] : subjects.registry.all()) {
    if (component.id == "python" && name_of(component.kind) == line.text("kind"))
      subjects.components.push_back(&component);
  }
  if (subjects.components.empty())
    return invalid("there is no kind '" + line.text("kind") + "'" +
                   did_you_mean(line.text("kind"), {"backend", "dataset", "policy", "reward"}));
  return subjects;
}

const char* word_of(RuleResult::Outcome outcome) {
  switch (outcome) {
    case RuleResult::kHolds:
      return "ok";
    case RuleResult::kBroken:
      return "BROKEN";
    case RuleResult::kExempt:
      return "not tried";
  }
  return "";
}

// Prints the rules of a component. True if none is broken.
bool print_results(const Component& component, const std::vector<RuleResult>& results) {
  bool holds = true;
  std::vector<std::vector<std::string>> rows;
  for (const RuleResult& result : results) {
    holds = holds && result.outcome != RuleResult::kBroken;
    rows.push_back({"  " + std::string(word_of(result.outcome)), result.rule, result.meaning});
    if (!result.why.empty()) rows.push_back({"", "", "  " + result.why});
  }
  print(fmt::format("{} '{}'\n{}", name_of(component.kind), component.id, columns(rows)));
  return holds;
}

}  // namespace

void add_validation_options(CommandLine& line) {
  line.repeatable("set", "KEY=VALUE", "validate: an option of the component");
  line.option("component", "ID", "validate: only this component of the plugin");
  line.option("kind", "KIND", "validate: the kind of a component in Python");
  line.option("timeout", "SECONDS", "validate: limit for a rule", "60");
}

int validate_plugin(const CommandLine& line) {
  const auto seconds = number_in<int>(line.text("timeout"));
  if (!seconds || *seconds < 1 || *seconds > kMostSeconds)
    return line.wrong("--timeout must be a number of seconds from 1 to 86400");
  const fs::path file = line.text("id");
  const auto subjects = file.extension() == ".py" ? of_script(file, line) : of_library(file, line);
  if (!subjects) return report(subjects.error());
  bool holds = true;
  for (const Component* component : subjects->components) {
    const auto results = validate(*component, subjects->registry,
                                  {subjects->options, std::chrono::seconds(*seconds)});
    if (!results) return report(results.error());
    holds = print_results(*component, *results) && holds;
  }
  return holds ? kDone : kNotRight;
}

int install_plugin(const CommandLine& line) {
  const auto copies = install_plugins(line.text("id"));
  if (!copies) return report(copies.error());
  for (const fs::path& copy : *copies) print(copy.string() + "\n");
  return kDone;
}

}  // namespace krl::cli
