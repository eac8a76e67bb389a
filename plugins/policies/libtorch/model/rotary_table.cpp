#include "plugins/policies/libtorch/model/rotary_table.hpp"

#include <cmath>
#include <numbers>

namespace krl::libtorch {
namespace {

// Radians that pair `i` of a head turns from one position to the next.
double rotary_frequency(const ModelConfig& config, std::int64_t i) {
  const double frequency = std::pow(
      config.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(config.head_size()));
  if (!config.rope_scaling) return frequency;
  const RopeScaling& scaling = *config.rope_scaling;
  const double turns =  // within the context of the first training
      static_cast<double>(scaling.original_context) * frequency / (2 * std::numbers::pi);
  if (turns < scaling.low_frequency_factor) return frequency / scaling.factor;
  if (turns > scaling.high_frequency_factor) return frequency;
  const double share = (turns - scaling.low_frequency_factor) /
                       (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - share) * frequency / scaling.factor + share * frequency;
}

}  // namespace

RotaryTable rotary_table(const ModelConfig& config) {
  RotaryTable table;
  const std::int64_t half = config.head_size() / 2;
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < half; ++i) frequencies.push_back(rotary_frequency(config, i));
  table.cosine.reserve(static_cast<std::size_t>(config.context * half));
  table.sine.reserve(static_cast<std::size_t>(config.context * half));
  for (std::int64_t position = 0; position < config.context; ++position) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(position) * frequency;
      table.cosine.push_back(static_cast<float>(std::cos(angle)));
      table.sine.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  return table;
}

}  // namespace krl::libtorch
