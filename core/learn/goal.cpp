#include "core/learn/goal.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/metrics.hpp"
#include "core/measure/rollout_metrics.hpp"
#include "core/plan/content_check.hpp"
#include "core/plan/source.hpp"

namespace krl::core {
namespace {

constexpr const char* kIteration = "iteration";

constexpr std::string_view kHoldout = "holdout/";

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

std::optional<double> worth_of(const Expression& best, const Metrics& metrics,
                               const std::vector<std::string>& terms, std::int64_t turns) {
  RealNames values;
  for (const Expression::NameUse& use : best.names()) {
    const auto full = use.name.starts_with(kHoldout)
                          ? std::optional(use.name)
                          : resolve_metric(use.name, declared_metrics(), terms, turns);
    const auto metric = full ? metrics.find(*full) : metrics.end();
    if (metric == metrics.end()) return std::nullopt;
    values[use.name] = metric->second;
  }
  const auto value = best.real(values);
  return value ? std::optional(*value) : std::nullopt;
}

int weights_measured_in(const Expression& best, int iteration, std::int64_t ahead, bool last) {
  const std::vector<Expression::NameUse> names = best.names();
  const bool only_holdouts = std::all_of(
      names.begin(), names.end(), [](const auto& use) { return use.name.starts_with(kHoldout); });
  if (last && only_holdouts) return iteration;
  return iteration - 1 - static_cast<int>(ahead);
}

}  // namespace krl::core
