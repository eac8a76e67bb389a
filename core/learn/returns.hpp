// Returns: from the scores of an episode's turns to what each turn led to.
// Pure functions, in double precision; any thread.
#pragma once

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

}  // namespace krl::core
