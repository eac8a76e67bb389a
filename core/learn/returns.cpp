#include "core/learn/returns.hpp"

#include <algorithm>

namespace krl::core {
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

}  // namespace krl::core
