#include "core/learn/goal.hpp"

#include <nlohmann/json.hpp>

#include "core/base/metrics.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/plan/content_check.hpp"
#include "core/plan/source.hpp"

namespace krl::core {
namespace {

constexpr const char* kIteration = "iteration";

}  // namespace

Goal::Goal(const StageSettings& stage, std::vector<std::string> terms)
    : stage_(stage), terms_(std::move(terms)) {}

Result<bool> Goal::reached(std::int64_t iteration, const Metrics& metrics) {
  const auto& until = stage_.rl.until;
  if (!until) return false;
  const auto window = static_cast<std::size_t>(stage_.rl.until_window);
  RealNames values = {{kIteration, static_cast<double>(iteration)}};
  bool measured = true;
  for (const Expression::NameUse& use : until->expression.names()) {
    if (values.contains(use.name)) continue;  // named twice
    std::vector<double>& recent = recent_[use.name];
    const auto full =
        resolve_metric(use.name, declared_metrics(), terms_, stage_.settings.rollout.turns);
    const auto entry = full ? metrics.find(*full) : metrics.end();
    if (entry == metrics.end()) {
      recent.clear();
    } else {
      recent.push_back(entry->second);
      if (recent.size() > window) recent.erase(recent.begin());
    }
    measured = measured && recent.size() == window;
    values[use.name] = mean_of(recent);
  }
  if (!measured) return false;
  const auto holds = until->expression.condition(values);
  if (!holds) return failure(problem_at(until->origin, holds.error().message));
  return *holds;
}

nlohmann::json Goal::state() const { return recent_; }

void Goal::restore(const nlohmann::json& state) {
  recent_ = state.get<std::map<std::string, std::vector<double>>>();
}

}  // namespace krl::core
