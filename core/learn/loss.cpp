#include "core/learn/loss.hpp"

#include <algorithm>

namespace krl {

Loss loss_of(const Settings& settings) {
  const LearnSettings& learn = settings.learn;
  Loss loss;
  loss.name = learn.loss.name;
  loss.aggregation = static_cast<std::uint32_t>(learn.loss.aggregation);
  loss.temperature = settings.rollout.temperature;
  for (const LossParameter& p : learn.loss.parameters)
    loss.parameters.emplace_back(p.name, p.value);
  for (const LossParameter& p : learn.critic) loss.parameters.emplace_back(p.name, p.value);
  return loss;
}

Loss supervised_loss(double tokens) { return {"cross_entropy", KRL_TOKEN_MEAN, tokens, 1.0, {}}; }

double parameter_of(const LossSettings& loss, std::string_view name) {
  const auto at = std::find_if(loss.parameters.begin(), loss.parameters.end(),
                               [&](const LossParameter& p) { return p.name == name; });
  return at == loss.parameters.end() ? 0 : at->value;
}

}  // namespace krl
