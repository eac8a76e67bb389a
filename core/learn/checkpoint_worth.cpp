#include "core/learn/checkpoint_worth.hpp"

#include "core/learn/declared_metrics.hpp"
#include "core/plan/content_check.hpp"

namespace krl::core {
namespace {

constexpr std::string_view kHoldout = "holdout/";

}  // namespace

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

}  // namespace krl::core
