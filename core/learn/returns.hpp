// Returns and advantages: from the scores of turns to their learning signals.
// Pure functions, in double precision; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"

namespace krl::core {

// The return of every turn t of one episode, from its scores s:
//   sum  R_t = Σ_{k≥t} discount^(k−t) · s_k      (Kevin, arXiv 2507.11948, with discount 0.4)
//   max  R_t = max_{k≥t} discount^(k−t) · s_k
// After the last of them stop_when left `unplayed` turns out. Where `after_stop` is repeat, each of
// those has the last score again, so that an episode never gains by staying below the condition.
std::vector<double> turn_returns(std::vector<double> scores, std::int64_t unplayed,
                                 const ReturnSettings& settings);

// The return of one member of a group, and which episode it is of.
struct Return {
  double value = 0;
  std::size_t episode = 0;
};

// The advantage of every member of one group, from the members' returns R, which are of two
// episodes or more. (gae does not use groups: gae_advantages.)
//   grpo     (R − mean) / (std + 1e-6), std with n − 1    (GRPO, arXiv 2402.03300)
//   dr_grpo  R − mean                                     (Dr. GRPO, arXiv 2503.20783)
//   rloo     R minus the mean of the members of other episodes    (RLOO, arXiv 2402.14740)
std::vector<double> group_advantages(const std::vector<Return>& returns, AdvantageKind kind);

// The largest return of a group less the smallest; 0 of none.
double spread_of(const std::vector<Return>& returns);

// A spread up to this is rounding.
inline constexpr double kSameReturn = 1e-6;

}  // namespace krl::core
