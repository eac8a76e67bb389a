// Returns and advantages: from scores of turns to what each turn is to be reinforced by.
// Pure functions, in double precision; any thread.
#pragma once

#include <vector>

#include "core/plan/plan.hpp"

namespace krl {

// The return of every turn t of one episode, from its scores s:
//   sum  R_t = Σ_{k≥t} discount^(k−t) · s_k      (Kevin, arXiv 2507.11948, with discount 0.4)
//   max  R_t = max_{k≥t} discount^(k−t) · s_k
std::vector<double> turn_returns(const std::vector<double>& scores, const ReturnSettings& settings);

// The advantage of every member of one group, from the members' returns R; n ≥ 2. (gae is no matter
// of groups: core/learn/gae.hpp.)
//   grpo     (R − mean) / (std + 1e-6), std with n − 1    (GRPO, arXiv 2402.03300)
//   dr_grpo  R − mean                                     (Dr. GRPO, arXiv 2503.20783)
//   rloo     (R − mean) · n / (n − 1): R minus the mean of the others    (RLOO, arXiv 2402.14740)
std::vector<double> group_advantages(const std::vector<double>& returns, AdvantageKind kind);

// Whether a group teaches nothing: all its returns are the same, up to rounding.
bool zero_variance(const std::vector<double>& returns);

}  // namespace krl
