// Figures by name: what plugins report of a call, what an iteration shows.
#pragma once

#include <map>
#include <string>

namespace krl {

using Metrics = std::map<std::string, double>;

// Adds `value` to the figure of that name; of a name that ends in "_max" the larger one stays.
inline void merge_metric(Metrics& metrics, const std::string& name, double value) {
  const auto [entry, is_new] = metrics.try_emplace(name, value);
  if (is_new) return;
  if (!name.ends_with("_max")) {
    entry->second += value;
  } else if (value > entry->second) {
    entry->second = value;
  }
}

}  // namespace krl
