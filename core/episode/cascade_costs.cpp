#include "core/episode/cascade_costs.hpp"

#include <fmt/format.h>

namespace krl::core {
namespace {

constexpr std::string_view kPrefix = "cascade/", kSuffix = "/ms";

}  // namespace

std::string cost_name(const std::string& backend) {
  return fmt::format("{}{}{}", kPrefix, backend, kSuffix);
}

void add_costs(const Evaluation& evaluation, Metrics& sums) {
  for (const Value& value : evaluation.values)
    if (value.name.starts_with(kPrefix)) sums[value.name] += value.value;
}

std::string describe_costs(const Metrics& sums) {
  std::string spent, saved;
  for (const auto& [name, ms] : sums) {
    if (name == kSavedMs) {
      saved = fmt::format("; saved: about {:.2f} s", ms / 1000);
    } else {
      const std::size_t size = name.size() - kPrefix.size() - kSuffix.size();
      spent += fmt::format("{}{} {:.2f} s", spent.empty() ? "" : ", ",
                           name.substr(kPrefix.size(), size), ms / 1000);
    }
  }
  return spent.empty() ? "" : fmt::format("spent: {}{}\n", spent, saved);
}

}  // namespace krl::core
