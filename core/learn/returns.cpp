#include "core/learn/returns.hpp"

#include <algorithm>

#include "core/learn/statistics.hpp"

namespace krl {
namespace {

constexpr double kEpsilon = 1e-6;  // added to the standard deviation, as other trainers do

}  // namespace

std::vector<double> turn_returns(const std::vector<double>& scores,
                                 const ReturnSettings& settings) {
  std::vector<double> returns(scores.size());
  for (std::size_t t = scores.size(); t-- > 0;) {
    returns[t] = scores[t];
    if (t + 1 == scores.size()) continue;
    const double later = settings.discount * returns[t + 1];
    returns[t] = settings.kind == ReturnKind::kSum ? scores[t] + later : std::max(scores[t], later);
  }
  return returns;
}

std::vector<double> group_advantages(const std::vector<double>& returns, AdvantageKind kind) {
  const double mean = mean_of(returns);
  const auto n = static_cast<double>(returns.size());
  double scale = 1;
  if (kind == AdvantageKind::kGrpo) scale = 1 / (deviation_of(returns) + kEpsilon);
  if (kind == AdvantageKind::kRloo) scale = n / (n - 1);
  std::vector<double> advantages;
  advantages.reserve(returns.size());
  for (const double r : returns) advantages.push_back((r - mean) * scale);
  return advantages;
}

bool zero_variance(const std::vector<double>& returns) {
  return returns.size() < 2 || deviation_of(returns) <= kEpsilon;
}

}  // namespace krl
