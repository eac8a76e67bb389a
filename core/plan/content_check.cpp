#include "core/plan/content_check.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "core/plan/built_in.hpp"
#include "core/plan/key_check.hpp"
#include "core/plan/node.hpp"
#include "core/plan/printer.hpp"
#include "core/plan/source.hpp"
#include "kernelrl/expression.hpp"

namespace krl::core {
namespace {

constexpr const char* kBest = "best";

// The place of a byte inside a text value. Exact for a one-line string without escapes, as
// conditions are; else the value as a whole.
Origin inside(const Node& node, std::size_t offset, std::size_t length) {
  Origin at = node.origin;
  const bool plain = at.length == node.text()->size() + 2;  // the two quotes
  if (!plain) return at;
  at.column += static_cast<std::uint32_t>(1 + offset);
  at.length = static_cast<std::uint32_t>(std::max<std::size_t>(1, length));
  return at;
}

void check_condition(const Node& node, const std::string& key,
                     const std::function<bool(const std::string&)>& is_known,
                     const std::vector<std::string>& known, std::vector<Problem>& problems) {
  const auto expression = Expression::parse(*node.text(), NameStyle::kMetrics);
  if (!expression) {
    problems.push_back({inside(node, expression.error().offset, 1),
                        "'" + key + "' is not a valid " +
                            (key == kBest ? "expression" : "condition") + ": " +
                            expression.error().message,
                        {}});
    return;
  }
  for (const Expression::NameUse& use : expression->names()) {
    if (is_known(use.name)) continue;
    problems.push_back({inside(node, use.offset, use.name.size()),
                        "'" + key + "' names '" + use.name + "', which does not exist",
                        spelling_hint(use.name, known, "names")});
  }
}

std::vector<std::string> reward_names(const Node& settings) {
  std::vector<std::string> names;
  const Node* rewards = settings.find("reward");
  if (rewards == nullptr) return names;
  for (const Node& reward : rewards->elements()) {
    if (const Node* name = reward.find_name(); name != nullptr) names.push_back(*name->text());
  }
  return names;
}

// The names that the hold-out datasets have in metrics.
std::vector<std::string> holdout_names(const Node& settings) {
  std::vector<std::string> names;
  std::map<std::string, int> of_one_use;
  const Node* datasets = settings.find("dataset");
  if (datasets == nullptr) return names;
  for (const Node& dataset : datasets->elements()) {
    const Node *use = dataset.find_text("use"), *role = dataset.find_text("role");
    if (use == nullptr || role == nullptr || *role->text() != "holdout") continue;
    const int number = ++of_one_use[*use->text()];
    names.push_back(number == 1 ? *use->text() : *use->text() + "_" + std::to_string(number));
  }
  return names;
}

std::int64_t turns_of(const Node& settings) {
  const Node* turns = settings.find_path("rollout.turns");
  const auto* number = turns == nullptr ? nullptr : std::get_if<std::int64_t>(&turns->value);
  return number == nullptr ? 1 : std::min<std::int64_t>(*number, 64);
}

const double* number_at(const Node& table, std::string_view dotted) {
  const Node* number = table.find_path(dotted);
  return number == nullptr ? nullptr : std::get_if<double>(&number->value);
}

constexpr std::string_view kIteration = "iteration";  // no metric, but a name like one
constexpr int kTiers = 4;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// True if `text` is "<family>_<n>" with first <= n < end, no leading zeros.
bool is_member(std::string_view text, std::string_view family, std::int64_t first,
               std::int64_t end) {
  if (!text.starts_with(family)) return false;
  for (std::int64_t n = first; n < end; ++n) {
    if (text.substr(family.size()) == std::to_string(n)) return true;
  }
  return false;
}

// Returns what may surprise about a path, already absolute: it is not there, or it is there only
// among what is built in.
std::string surprise_of(const Node& path) {
  const std::string built_in = built_in_configs().string();
  std::error_code error;
  if (!std::filesystem::exists(*path.text(), error)) return ", which does not exist";
  const bool is_own = path.origin.folder().string().starts_with(built_in);
  return path.text()->starts_with(built_in) && !is_own ? ", which is built in" : "";
}

}  // namespace

void check_conditions(const Node& stage, const Node& settings, const MetricNames& metrics,
                      std::vector<Problem>& problems) {
  const auto given = [](const Node* text) { return text != nullptr && !text->text()->empty(); };
  if (const Node* until = stage.find_text("until"); given(until)) {
    const std::vector<std::string> rewards = reward_names(settings);
    const std::int64_t turns = turns_of(settings);
    const auto known = [&](const std::string& name) {
      return resolve_metric(name, metrics, rewards, turns).has_value();
    };
    check_condition(*until, "until", known, metric_names(metrics, rewards), problems);
  }
  if (const Node* stop = settings.find_text("rollout.stop_when"); given(stop)) {
    const auto known = [](const std::string& name) {
      return std::ranges::find(stop_names(), name) != stop_names().end();
    };
    check_condition(*stop, "stop_when", known, stop_names(), problems);
  }
}

void check_best(const Node& checkpoint, const std::vector<Node>& stages, const MetricNames& metrics,
                std::vector<Problem>& problems) {
  const Node* best = checkpoint.find_text(kBest);
  if (best == nullptr || best->text()->empty()) return;
  std::vector<std::string> known;
  for (const Node& stage : stages) {
    for (const std::string& holdout : holdout_names(stage))
      known.push_back("holdout/" + holdout + "/pass_rate");
  }
  std::vector<std::string> rewards;
  for (const Node& stage : stages) {
    for (std::string& name : reward_names(stage)) rewards.push_back(std::move(name));
  }
  for (std::string& name : metric_names(metrics, rewards)) known.push_back(std::move(name));
  const auto is_known = [&](const std::string& name) {
    return std::ranges::any_of(stages, [&](const Node& stage) {
      return is_holdout_metric(name, metrics, holdout_names(stage)) ||
             resolve_metric(name, metrics, reward_names(stage), turns_of(stage)).has_value();
    });
  };
  check_condition(*best, kBest, is_known, known, problems);
}

void check_schedule(const Node& table, std::vector<Problem>& problems) {
  const double* lr = number_at(table, "optimizer.lr");
  const double* min_lr = number_at(table, "optimizer.min_lr");
  if (lr == nullptr || min_lr == nullptr || *min_lr <= *lr) return;
  const Node& high = *table.find_path("optimizer.min_lr");
  const Node& low = *table.find_path("optimizer.lr");
  problems.push_back(
      {high.origin,
       "'min_lr' is above 'lr', " + toml_text(low) + ": the learning rate would rise to it",
       "the schedule ends at min_lr: set it to at most lr"});
}

void check_pass_bounds(const Node& rollout, std::vector<Problem>& problems) {
  const double* low = number_at(rollout, "pass_low");
  const double* high = number_at(rollout, "pass_high");
  if (low == nullptr || high == nullptr || *low <= *high) return;
  problems.push_back({rollout.find_path("pass_low")->origin,
                      "'pass_low' is above 'pass_high', so no task is learnable",
                      "set it to at most pass_high"});
}

void check_imitation(const Node& settings, std::vector<Problem>& problems) {
  const double* weight = number_at(settings, "learn.imitate");
  const Node* enabled = settings.find_path("archive.enabled");
  if (weight == nullptr || *weight == 0 || (enabled != nullptr && std::get<bool>(enabled->value)))
    return;
  problems.push_back({settings.find_path("learn.imitate")->origin,
                      "there is no archive whose kernels could be imitated", "add [archive]"});
}

void check_search(const Node& stage, const Node& settings, std::vector<Problem>& problems) {
  const auto given = [&](std::string_view key) {
    const Node* value = stage.find_path(key);
    if (value == nullptr) return false;
    const auto* number = std::get_if<double>(&value->value);
    const auto* integer = std::get_if<std::int64_t>(&value->value);
    return (number != nullptr && *number > 0) || (integer != nullptr && *integer > 0);
  };
  const bool ends = given("iterations") || given("budget.kernels") || given("budget.tokens") ||
                    given("budget.minutes") || given("budget.dollars");
  const std::string name = "stage '" + stage.text_at("name") + "'";
  if (!ends)
    problems.push_back({stage.origin, name + " would never end",
                        "set iterations, or budget.kernels, tokens, minutes or dollars"});
  if (given("budget.dollars") && !given("budget.prompt_price") && !given("budget.answer_price"))
    problems.push_back({stage.find_path("budget.dollars")->origin,
                        name + " has no prices, so that no dollars would be used up",
                        "set budget.prompt_price and budget.answer_price"});
  const Node* ahead = settings.find_path("rollout.ahead");
  const auto* rounds = ahead == nullptr ? nullptr : std::get_if<std::int64_t>(&ahead->value);
  if (rounds != nullptr && *rounds > 0)
    problems.push_back({ahead->origin, name + " cannot play ahead: it draws each round by the last",
                        "remove 'ahead'"});
  if (const Node* datasets = settings.find("dataset")) {
    for (const Node& dataset : datasets->elements()) {
      if (dataset.text_at("role") == "holdout")
        problems.push_back({dataset.origin, name + " never measures hold-outs",
                            "give the tasks the role \"train\", or remove them"});
    }
  }
  const Node* enabled = settings.find_path("archive.enabled");
  const bool archives = enabled != nullptr && std::get<bool>(enabled->value);
  if (given("tune") && !archives)
    problems.push_back({stage.find_path("tune")->origin,
                        "there is no archive whose kernels could be tuned", "add [archive]"});
}

void check_retrieval_turns(const Node& settings, std::vector<Problem>& problems) {
  const Node* shown = settings.find_path("retrieval.turns");
  const Node* turns = settings.find_path("rollout.turns");
  if (shown == nullptr || shown->text() == nullptr || *shown->text() != "after_failure") return;
  const auto* count = turns == nullptr ? nullptr : std::get_if<std::int64_t>(&turns->value);
  if (count == nullptr || *count != 1) return;
  problems.push_back(
      {shown->origin,
       "an episode has one turn, and none after a failure: no prompt shows documents",
       "set rollout.turns to 2 or more, or turns = \"every\""});
}

void check_replacements(const Node& document, const Catalog& catalog,
                        std::vector<Problem>& problems) {
  const Node* list = document.find_path("plugins.replace");
  if (list == nullptr) return;
  for (const Node& element : list->elements()) {
    if (element.text() == nullptr) continue;  // an element that is not a text is reported elsewhere
    const std::string& text = *element.text();
    const auto& replaced = catalog.replaced;
    if (std::ranges::find(replaced, text) != replaced.end()) continue;
    problems.push_back(
        {element.origin, "no plugin replaces '" + text + "'",
         "name KIND.ID, such as \"reward.speedup\", for which a plugin outside kernelrl's own folder provides a component" +
             catalog.search_report()});
  }
}

void check_templates(const Node& prompt, std::vector<Problem>& problems) {
  const Node* folder = prompt.find_text("templates");
  if (folder == nullptr || folder->text()->empty()) return;
  for (const char* name : {"task.txt", "turn.txt", "older_turn.txt"}) {
    if (const auto text = read_text_file(*folder->text() + "/" + name); !text) {
      problems.push_back(
          {folder->origin, text.error(),
           "templates: a folder with task.txt, turn.txt and older_turn.txt, beside the plan or "
           "in " +
               built_in_configs().string()});
      return;
    }
  }
}

void check_run_name(const Node& run, std::vector<Problem>& problems) {
  const Node* name = run.find_text("name");
  if (name == nullptr) return;
  const std::string& text = *name->text();
  std::string word = text;
  std::erase(word, '.');
  if (is_bare_key(word) && text.front() != '.' && text.front() != '-' && text.size() <= 100) return;
  problems.push_back({name->origin, "'name' must be a valid folder name",
                      "letters, digits, '-', '_' and '.', at most 100, not starting with '.'"});
}

void note_surprising_paths(const Node& table, Kind kind, const Catalog& catalog,
                           std::vector<std::string>& notes) {
  const Node* use = table.find_text("use");
  const CatalogEntry* component = use == nullptr ? nullptr : catalog.find(kind, *use->text());
  if (component == nullptr) return;
  for (const KeyRule& rule : component->keys) {
    const Node* path = rule.type == ValueType::kPath ? table.find_text(rule.key) : nullptr;
    if (path == nullptr || path->origin.is_default() || path->text()->empty()) continue;
    const std::string surprise = surprise_of(*path);
    if (surprise.empty()) continue;
    std::string note =
        note_at(path->origin, "'" + rule.key + "' of " + std::string(name_of(kind)) + " '" +
                                  component->id + "' is " + *path->text() + surprise);
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
}

const std::vector<std::string>& stop_names() {
  static const std::vector<std::string> kNames = {"best_score", "compiled", "passed",
                                                  "score",      "speedup",  "turn"};
  return kNames;
}

std::optional<std::string> resolve_metric(std::string_view name, const MetricNames& known,
                                          const std::vector<std::string>& rewards,
                                          std::int64_t turns) {
  if (name == kIteration || contains(known.of_iterations, name)) return std::string(name);
  if (contains(known.of_kernels, name) || contains(known.of_episodes, name))
    return "kernel/" + std::string(name);
  for (const std::string& reward : rewards) {
    if (name == "reward/" + reward + "/mean") return std::string(name);
  }
  const auto begins = [&](const std::string& family) { return name.starts_with(family); };
  if (std::ranges::any_of(known.families, begins)) return std::string(name);
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view family = name.substr(0, slash), metric = name.substr(slash + 1);
  const bool by_turn = turns > 1 && is_member(family, "turn_", 1, turns + 1);
  const bool of_all = family == "kernel" || is_member(family, "tier_", 0, kTiers);
  const bool is_known = ((by_turn || of_all) && contains(known.of_kernels, metric)) ||
                        (of_all && contains(known.of_episodes, metric));
  return is_known ? std::optional(std::string(name)) : std::nullopt;
}

bool is_holdout_metric(std::string_view name, const MetricNames& known,
                       const std::vector<std::string>& datasets) {
  return std::ranges::any_of(datasets, [&](const std::string& dataset) {
    const std::string prefix = "holdout/" + dataset + "/";
    if (!name.starts_with(prefix)) return false;
    const std::string_view metric = name.substr(prefix.size());
    return contains(known.of_kernels, metric) || contains(known.of_episodes, metric);
  });
}

std::vector<std::string> metric_names(const MetricNames& known,
                                      const std::vector<std::string>& rewards) {
  std::vector<std::string> names = known.of_kernels;
  names.insert(names.end(), known.of_episodes.begin(), known.of_episodes.end());
  for (const std::string& reward : rewards) names.push_back("reward/" + reward + "/mean");
  names.emplace_back(kIteration);
  names.insert(names.end(), known.of_iterations.begin(), known.of_iterations.end());
  return names;
}

}  // namespace krl::core
