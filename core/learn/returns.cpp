#include "core/learn/returns.hpp"

#include <algorithm>
#include <map>

#include "core/base/metrics.hpp"

namespace krl::core {
namespace {

constexpr double kEpsilon = 1e-6;  // added to the standard deviation, as other trainers do

// The turns of one episode have much in common, so that each baseline excludes its whole episode.
std::vector<double> leave_one_episode_out(const std::vector<Return>& returns) {
  struct Sum {
    double value = 0, count = 0;
    void add(double v) { value += v, ++count; }
  };
  Sum all;
  std::map<std::size_t, Sum> by_episode;
  for (const Return& r : returns) all.add(r.value), by_episode[r.episode].add(r.value);
  std::vector<double> advantages;
  advantages.reserve(returns.size());
  for (const Return& r : returns) {
    const Sum& own = by_episode[r.episode];
    advantages.push_back(r.value - (all.value - own.value) / (all.count - own.count));
  }
  return advantages;
}

}  // namespace

std::vector<double> turn_returns(std::vector<double> scores, std::int64_t unplayed,
                                 const ReturnSettings& settings) {
  const std::size_t played = scores.size();
  if (played > 0 && settings.after_stop == AfterStop::kRepeat)
    scores.insert(scores.end(), static_cast<std::size_t>(unplayed), double{scores.back()});
  std::vector<double> returns = std::move(scores);
  for (std::size_t t = returns.size(); t-- > 1;) {
    const double later = settings.discount * returns[t];
    double& r = returns[t - 1];
    r = settings.kind == ReturnKind::kSum ? r + later : std::max(r, later);
  }
  returns.resize(played);
  return returns;
}

std::vector<double> group_advantages(const std::vector<Return>& returns, AdvantageKind kind) {
  if (kind == AdvantageKind::kRloo) return leave_one_episode_out(returns);
  std::vector<double> values;
  for (const Return& r : returns) values.push_back(r.value);
  const double mean = mean_of(values);
  const double scale = kind == AdvantageKind::kGrpo ? 1 / (deviation_of(values) + kEpsilon) : 1;
  for (double& value : values) value = (value - mean) * scale;
  return values;
}

double spread_of(const std::vector<Return>& returns) {
  if (returns.empty()) return 0;
  const auto [least, most] = std::ranges::minmax_element(
      returns, [](const Return& a, const Return& b) { return a.value < b.value; });
  return most->value - least->value;
}

}  // namespace krl::core
