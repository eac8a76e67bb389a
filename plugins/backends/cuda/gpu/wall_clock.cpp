#include "plugins/backends/cuda/gpu/wall_clock.hpp"

#include <algorithm>
#include <cmath>

namespace krl {
namespace {

// What a batch of host code may take longer than the baseline's, beside its launches: its outputs
// are copied, compared and made unreadable again after each sample.
constexpr double kFactor = 2, kPerSample = 100'000, kAlways = 2'000'000;
constexpr double kTooEarly = 0.2;  // of what the same work takes the baseline

std::string milliseconds(double ns) { return std::to_string(ns / 1e6) + " ms"; }

}  // namespace

void WallClock::candidate(double waited, double reported) {
  candidate_waited_ = std::min(candidate_waited_, waited);
  candidate_beside_ = std::min(candidate_beside_, waited - reported);
}

void WallClock::baseline(double waited, double reported) {
  baseline_beside_ = std::min(baseline_beside_, waited - reported);
}

std::string WallClock::objection(std::size_t samples) const {
  if (!std::isfinite(candidate_beside_) || !std::isfinite(baseline_beside_)) return {};
  const double most = std::max(kFactor * baseline_beside_, kAlways + baseline_beside_) +
                      kPerSample * static_cast<double>(samples);
  if (candidate_beside_ > most) {
    return "each batch took at least " + milliseconds(candidate_beside_) +
           " longer than the times that it reports, and at most " + milliseconds(most) +
           " is explained";
  }
  if (candidate_waited_ < kTooEarly * baseline_beside_) {
    return "a batch was answered after " + milliseconds(candidate_waited_) +
           ", before its inputs can have been drawn";
  }
  return {};
}

}  // namespace krl
