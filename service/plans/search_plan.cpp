#include "service/plans/search_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/file_system.hpp"
#include "core/plan/built_in.hpp"
#include "core/plan/layers.hpp"
#include "core/run/checkpoints.hpp"
#include "core/run/run_directory.hpp"
#include "service/runs/runs.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRunsFolder = "runs";  // the default of run.directory

fs::path built_in(const char* name) { return shared_files() / "configs" / name; }

// A TOML string of any text.
std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      out += fmt::format("\\u{:04x}", c);
    else
      out += c;
  }
  return out + '"';
}

// A trained run and one of its checkpoints.
struct Start {
  fs::path plan;
  fs::path checkpoint;
};

Result<Start> start_of(const std::string& from) {
  const std::size_t at = from.rfind('@');
  KRL_ASSIGN(const RunInfo run, find_run(kRunsFolder, from.substr(0, at)));
  const RunLayout layout{fs::absolute(run.directory)};
  Start start{layout.plan(), {}};
  if (at != std::string::npos) {
    const std::string step = from.substr(at + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
    const bool numbered = error == std::errc() && end == step.data() + step.size() && number >= 0;
    if (!numbered && step != "best")
      return invalid("'" + from + "' must end with the number of an iteration, or with @best");
    start.checkpoint = layout.checkpoints() / (numbered ? fmt::format("step_{:06}", number) : step);
  } else {
    std::vector<std::string> ignored;
    KRL_ASSIGN(const auto newest, newest_checkpoint(layout.checkpoints(), ignored));
    if (!newest)
      return failure(Code::kNotFound,
                     "there is no checkpoint in " + layout.checkpoints().string() + " yet");
    start.checkpoint = newest->directory;
  }
  KRL_ASSIGN(const Checkpoint checkpoint, read_checkpoint(start.checkpoint));
  start.checkpoint = checkpoint.directory;
  return start;
}

std::string run_name_of(const SearchChoice& choice) {
  if (!choice.name.empty()) return choice.name;
  fs::path tasks = fs::path(choice.tasks).lexically_normal();
  if (tasks.filename().empty()) tasks = tasks.parent_path();
  std::string name = "solve_" + tasks.stem().string();
  if (!choice.from.empty()) name += "_" + fs::path(choice.from).filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  return name;
}

// `as_it_is`: the plan has datasets of its own instead of that of search/solve.toml.
void add_tasks(const std::string& tasks, bool as_it_is, std::vector<std::string>& changes) {
  std::error_code ignored;
  const bool files = tasks.ends_with(".toml") || fs::exists(tasks, ignored);
  if (as_it_is)
    changes.push_back("dataset=[{use=\"tasks\", role=\"train\", path=" +
                      toml_text(built_in("tasks").string()) + "}]");
  changes.push_back(files ? "dataset.0.path=" + toml_text(fs::absolute(tasks).string())
                          : "dataset.0.only=[" + toml_text(tasks) + "]");
}

// `complete`: the plan says what batching its policy has.
void add_policy(const SearchChoice& choice, bool complete, std::vector<std::string>& changes) {
  const bool served = !choice.endpoint.empty() || !choice.model.empty();
  if (!choice.policy.empty()) changes.push_back("policy.use=" + toml_text(choice.policy));
  if (!choice.policy.empty() && !complete) changes.emplace_back("rollout.batching=waves");
  if (choice.policy.empty() && served) changes.emplace_back("policy.use=openai");
  if (!choice.endpoint.empty()) changes.push_back("policy.base_url=" + toml_text(choice.endpoint));
  if (!choice.model.empty()) changes.push_back("policy.model=" + toml_text(choice.model));
}

void add_budget(const SearchChoice& choice, const std::string& stage,
                std::vector<std::string>& changes) {
  const std::string budget = "stage." + stage + ".budget.";
  if (!choice.kernels && !choice.tokens && !choice.minutes && !choice.dollars) return;
  changes.push_back(budget + fmt::format("kernels={}", choice.kernels.value_or(0)));
  if (choice.tokens) changes.push_back(budget + fmt::format("tokens={}", *choice.tokens));
  if (choice.minutes) changes.push_back(budget + fmt::format("minutes={:.9g}", *choice.minutes));
  if (choice.dollars) changes.push_back(budget + fmt::format("dollars={:.9g}", *choice.dollars));
}

// The number of the last stage of a plan whose stages all search; nothing of another plan, or of one
// that cannot be read.
std::optional<std::size_t> search_stage_of(const std::string& plan) {
  std::vector<Problem> problems;
  std::vector<std::string> notes;
  const auto document = read_layers(plan_named(plan), {}, {}, problems, notes);
  const Node* stages = document ? document->find("stage") : nullptr;
  if (stages == nullptr || stages->elements().empty()) return std::nullopt;
  for (const Node& stage : stages->elements())
    if (stage.text_at("kind") != "search") return std::nullopt;
  return stages->elements().size() - 1;
}

// The plan of the run that is to be continued; nothing if there is none.
std::optional<Plan> plan_to_continue(const SearchChoice& choice) {
  const auto run = find_run(kRunsFolder, run_name_of(choice));
  if (!choice.resume || !run) return std::nullopt;
  PlanOptions options;
  options.plugin_folders = choice.options.plugin_folders;
  auto loaded = load_plan_of(RunLayout{run->directory}.plan(), options);
  return loaded ? std::optional(std::move(loaded->plan)) : std::nullopt;
}

// A search that is continued has the budget that it began with, unless another is named.
void keep_budget(const Plan& before, SearchChoice& choice) {
  if (choice.kernels || choice.tokens || choice.minutes || choice.dollars) return;
  const BudgetSettings& budget = before.stages.back().search.budget;
  if (budget.kernels > 0) choice.kernels = budget.kernels;
  if (budget.tokens > 0) choice.tokens = budget.tokens;
  if (budget.minutes > 0) choice.minutes = budget.minutes;
  if (budget.dollars > 0) choice.dollars = budget.dollars;
}

}  // namespace

Result<LoadedPlan> load_search_plan(SearchChoice choice) {
  const std::optional<Plan> before = plan_to_continue(choice);
  if (before) keep_budget(*before, choice);
  PlanOptions options = choice.options;
  fs::path base = choice.plan;
  std::vector<std::string> changes = {"run.name=" + toml_text(run_name_of(choice))};
  if (!choice.from.empty()) {
    KRL_ASSIGN(const Start start, start_of(choice.from));
    if (base.empty()) {
      base = start.plan;
      changes.push_back("run.directory=" + toml_text(kRunsFolder));
    }
    // A run that is continued goes on with the weights that it began with, not with newer ones.
    const bool known = before && !before->run.from.empty();
    changes.push_back("run.from=" +
                      toml_text((known ? before->run.from : start.checkpoint).string()));
  }
  const bool complete = !base.empty();
  if (!complete) base = built_in("solve.toml");
  const auto own = complete && !choice.plan.empty() ? search_stage_of(choice.plan) : std::nullopt;
  if (complete && !own) options.over.push_back(built_in("search/solve.toml"));
  add_tasks(choice.tasks, own.has_value(), changes);
  add_policy(choice, complete, changes);
  if (!choice.backend.empty()) changes.push_back("backend.use=" + toml_text(choice.backend));
  add_budget(choice, own ? std::to_string(*own) : "search", changes);
  options.changes.insert(options.changes.begin(), changes.begin(), changes.end());
  return load_plan_of(base, options);
}

}  // namespace krl::service
