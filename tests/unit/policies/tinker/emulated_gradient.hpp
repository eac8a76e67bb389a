// What a service makes of its own losses: the derivative of the step's loss by the log-probability
// of each target token, in double precision. Written from the services' documentation and, for
// SkyRL, from what it was seen to do; not from the code under test.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "plugins/policies/tinker/service_loss.hpp"

namespace krl::tinker::testing {

inline std::vector<double> floats_of(const Datum& datum, const std::string& name) {
  for (const auto& [key, tensor] : datum.inputs) {
    if (key != name) continue;
    const auto& values = std::get<std::vector<float>>(tensor);
    return {values.begin(), values.end()};
  }
  return {};
}

inline double threshold_of(const ServiceLoss& loss, const std::string& name) {
  for (const auto& [key, value] : loss.config) {
    if (key == name) return value;
  }
  throw std::runtime_error("no " + name);
}

// `now`: log-probabilities of the datum's target tokens; `data`: how many the step has.
inline std::vector<double> emulated_gradient(const ServiceLoss& loss, const Datum& datum,
                                             const std::vector<double>& now, Gradients gradients,
                                             std::size_t data) {
  const std::vector<double> weights = floats_of(datum, "weights"),
                            logprobs = floats_of(datum, "logprobs"),
                            advantages = floats_of(datum, "advantages");
  std::vector<double> by(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (loss.loss_fn == "cross_entropy") {
      by[i] = -weights.at(i);
      continue;
    }
    const double ratio = std::exp(now[i] - logprobs.at(i)), advantage = advantages.at(i);
    if (loss.loss_fn == "importance_sampling") {
      by[i] = -ratio * advantage;
      continue;
    }
    const double clipped = std::clamp(ratio, threshold_of(loss, "clip_low_threshold"),
                                      threshold_of(loss, "clip_high_threshold"));
    if (loss.loss_fn == "cispo") {
      by[i] = -clipped * advantage;
    } else if (loss.loss_fn == "ppo") {
      by[i] = clipped * advantage < ratio * advantage ? 0 : -ratio * advantage;
    } else {
      throw std::runtime_error("unknown loss " + loss.loss_fn);
    }
  }
  if (gradients == Gradients::kSum) return by;
  // A datum without weights has ones.
  const double tokens = weights.empty() ? static_cast<double>(now.size())
                                        : std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& b : by) b /= std::max(tokens, 1e-9) * static_cast<double>(data);
  return by;
}

}  // namespace krl::tinker::testing
