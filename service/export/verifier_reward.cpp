#include "service/export/verifier_reward.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace krl::service {

std::string verifier_reward(const Evaluation& evaluation) {
  const double speedup = evaluation.speedup();
  const bool timed = evaluation.passed() && std::isfinite(speedup);
  nlohmann::ordered_json json = {{"reward", timed                 ? speedup
                                            : evaluation.passed() ? 1.0
                                                                  : 0.0},
                                 {"compiled", evaluation.compiled() ? 1 : 0},
                                 {"correct", evaluation.passed() ? 1 : 0}};
  if (timed) json["speedup"] = speedup;
  return json.dump() + "\n";
}

}  // namespace krl::service
