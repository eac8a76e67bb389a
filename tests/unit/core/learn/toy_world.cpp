#include "tests/unit/core/learn/toy_world.hpp"

#include <fstream>

#include "core/learn/declared_metrics.hpp"
#include "core/plan/loader.hpp"
#include "core/run/run_directory.hpp"

namespace krl::test {
using namespace core;
namespace {

constexpr const char* kPlan = R"([run]
name = "toy"
seed = 7
retry_wait_s = 0.001

[policy]
use = "toy.world"

[backend]
use = "toy.world"

[[dataset]]
use = "toy.world"

[rollout]
groups     = 4
group_size = 4

[learn]
optimizer = { lr = 0.5, warmup = 0 }

[[reward]]
use  = "toy.speed"
when = "passed"

[checkpoint]
every = 2
)";

constexpr const char* kStages = R"(
[[stage]]
name = "reinforce"
kind = "rl"
iterations = 8
)";

// Loading rehearses plugins in forked processes; beside other threads, the child of a sanitized
// process may wait for ever for a lock of the allocator.
Registry load_alone() {
#ifdef __SANITIZE_THREAD__
  constexpr int kThreads = 2;  // one is the sanitizer's
#else
  constexpr int kThreads = 1;
#endif
  if (std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}) > kThreads)
    throw std::logic_error("the first toy world is made before the process has other threads");
  return Registry::load({KERNELRL_BINARY_DIR "/tests/plugins"});
}

// Keeps what a user would be warned of, and tells of every iteration.
class Watcher final : public RunObserver {
 public:
  explicit Watcher(const std::function<void(const IterationMetrics&)>& after_iteration)
      : after_iteration_(after_iteration) {}

  std::vector<std::string> warnings;

  void stage_started(const StageInfo&) override {}
  void progress(const Progress&) override {}
  void iteration_finished(const IterationMetrics& metrics) override {
    if (after_iteration_) after_iteration_(metrics);
  }
  void warning(const std::string& text) override { warnings.push_back(text); }
  void finished(const RunSummary&) override {}

 private:
  const std::function<void(const IterationMetrics&)>& after_iteration_;
};

std::vector<IterationMetrics> read_metrics(const std::filesystem::path& file) {
  std::vector<IterationMetrics> metrics;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    auto parsed = parse_metrics_line(line);
    if (!parsed) throw std::runtime_error(parsed.error().message);
    parsed->time = 0;
    std::erase_if(parsed->values, [](const auto& entry) { return !is_repeatable(entry.first); });
    metrics.push_back(std::move(*parsed));
  }
  return metrics;
}

}  // namespace

std::vector<double> RunReport::all(const std::string& metric) const {
  std::vector<double> values;
  for (const IterationMetrics& m : metrics) {
    if (const auto entry = m.values.find(metric); entry != m.values.end())
      values.push_back(entry->second);
  }
  return values;
}

std::vector<std::string> RunReport::lines() const {
  std::vector<std::string> lines;
  for (const IterationMetrics& m : metrics) lines.push_back(metrics_line(m));
  return lines;
}

const Registry& ToyWorld::registry() {
  static const Registry loaded = load_alone();
  return loaded;
}

Result<Plan> ToyWorld::load(const Overrides& overrides, const std::string& tables) const {
  const std::filesystem::path file = folder_ / "plan.toml";
  const bool stages = tables.find("[[stage]]") != std::string::npos;
  std::ofstream(file) << kPlan << tables << (stages ? "" : kStages);
  Overrides all = {"run.directory=\"" + (folder_ / "runs").string() + "\""};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load_plan(file, all, [&](const auto&) {
    Catalog catalog = registry().catalog();
    catalog.metrics = declared_metrics();
    return catalog;
  });
}

RunReport ToyWorld::start(bool resume, const Overrides& overrides, const std::string& tables) {
  RunReport report;
  const Result<Plan> plan = load(overrides, tables);
  if (!plan) {
    report.error = plan.error().message;
    return report;
  }
  stop_ = cancel_ = false;
  Watcher watcher(after_iteration);
  const CallScope scope = call_scope(plan->run, cancel_);
  const auto begin_and_run = [&]() -> Result<Outcome> {
    KRL_ASSIGN(const auto journal, Journal::open(*plan, registry(), resume, {}, watcher));
    return run_plan(*plan, Components(registry(), scope), *journal, stop_);
  };
  const Result<Outcome> outcome = begin_and_run();
  if (outcome) report.outcome = *outcome;
  if (!outcome) report.error = outcome.error().message;
  report.metrics = read_metrics(RunLayout{plan->run.directory}.metrics());
  report.warnings = std::move(watcher.warnings);
  return report;
}

RunReport ToyWorld::run(const Overrides& overrides, const std::string& tables) {
  return start(false, overrides, tables);
}

RunReport ToyWorld::resume(const Overrides& overrides, const std::string& tables) {
  return start(true, overrides, tables);
}

RunReport fresh_run(const Overrides& overrides, const std::string& tables) {
  return ToyWorld().run(overrides, tables);
}

}  // namespace krl::test
