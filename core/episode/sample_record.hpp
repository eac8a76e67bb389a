// One answer as people read it: a line of a run's samples/ and of `kernelrl eval --answers`. Pure
// functions; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/episode/episode.hpp"

namespace krl::core {

// The records of an episode's turns, in order. `terms`: the names of the reward's terms.
std::vector<nlohmann::json> sample_records(const Episode& episode,
                                           const std::vector<std::string>& terms);

// A record as one line, whatever bytes a model wrote.
std::string sample_line(const nlohmann::json& record);

}  // namespace krl::core
