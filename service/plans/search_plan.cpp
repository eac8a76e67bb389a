#include "service/plans/search_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/file_system.hpp"
#include "core/run/checkpoints.hpp"
#include "core/run/run_directory.hpp"
#include "service/runs/runs.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRunsFolder = "runs";  // the default of run.directory

fs::path built_in(const char* name) { return shared_files() / "configs" / name; }

// A TOML string of any text.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
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

void add_tasks(const std::string& tasks, std::vector<std::string>& changes) {
  std::error_code ignored;
  if (tasks.ends_with(".toml") || fs::exists(tasks, ignored)) {
    changes.push_back("dataset.0.path=" + quoted(fs::absolute(tasks).string()));
  } else {
    changes.push_back("dataset.0.only=[" + quoted(tasks) + "]");
  }
}

// `complete`: the plan says what batching its policy has.
void add_policy(const SearchChoice& choice, bool complete, std::vector<std::string>& changes) {
  const bool served = !choice.endpoint.empty() || !choice.model.empty();
  if (!choice.policy.empty()) changes.push_back("policy.use=" + quoted(choice.policy));
  if (!choice.policy.empty() && !complete) changes.emplace_back("rollout.batching=waves");
  if (choice.policy.empty() && served) changes.emplace_back("policy.use=openai");
  if (!choice.endpoint.empty()) changes.push_back("policy.base_url=" + quoted(choice.endpoint));
  if (!choice.model.empty()) changes.push_back("policy.model=" + quoted(choice.model));
}

void add_budget(const SearchChoice& choice, std::vector<std::string>& changes) {
  const std::string budget = "stage.search.budget.";
  if (!choice.kernels && !choice.tokens && !choice.minutes && !choice.dollars) return;
  changes.push_back(budget + fmt::format("kernels={}", choice.kernels.value_or(0)));
  if (choice.tokens) changes.push_back(budget + fmt::format("tokens={}", *choice.tokens));
  if (choice.minutes) changes.push_back(budget + fmt::format("minutes={:.9g}", *choice.minutes));
  if (choice.dollars) changes.push_back(budget + fmt::format("dollars={:.9g}", *choice.dollars));
}

bool only_searches(const std::string& plan) {
  const auto loaded = load_plan_of(plan, {});
  return loaded && !loaded->plan.learns();
}

}  // namespace

Result<LoadedPlan> load_search_plan(const SearchChoice& choice) {
  PlanOptions options = choice.options;
  fs::path base = choice.plan;
  std::vector<std::string> changes = {"run.name=" + quoted(run_name_of(choice))};
  if (!choice.from.empty()) {
    KRL_ASSIGN(const Start start, start_of(choice.from));
    if (base.empty()) {
      base = start.plan;
      changes.push_back("run.directory=" + quoted(kRunsFolder));
    }
    changes.push_back("run.from=" + quoted(start.checkpoint.string()));
  }
  const bool complete = !base.empty();
  if (!complete) base = built_in("solve.toml");
  if (complete && (choice.plan.empty() || !only_searches(choice.plan)))
    options.over.push_back(built_in("search/solve.toml"));
  add_tasks(choice.tasks, changes);
  add_policy(choice, complete, changes);
  if (!choice.backend.empty()) changes.push_back("backend.use=" + quoted(choice.backend));
  add_budget(choice, changes);
  options.changes.insert(options.changes.begin(), changes.begin(), changes.end());
  return load_plan_of(base, options);
}

}  // namespace krl::service
