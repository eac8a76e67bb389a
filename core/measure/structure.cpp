#include "core/measure/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace krl::core {
namespace {

std::int64_t power_of_four(double size) {
  std::int64_t power = 1;
  while (static_cast<double>(power) * 4 <= size) power *= 4;
  return power;
}

}  // namespace

std::string structure_of(const Evaluation& evaluation) {
  const auto value = [&](const char* name) { return evaluation.value(name).value_or(0); };
  const double launches =
      evaluation.value("launches")
          .value_or(static_cast<double>(std::max<std::size_t>(1, evaluation.kernels.size())));
  std::vector<std::string> parts = {fmt::format("{:.0f} launches", launches)};
  if (const int bytes = evaluation.max_shared_bytes(); bytes > 0)
    parts.push_back(fmt::format("shared {}", power_of_four(bytes)));
  for (const auto& [name, text] :
       {std::pair("shuffles", "shuffles"), {"atomics", "atomics"}, {"vector_accesses", "vectors"}})
    if (value(name) > 0) parts.emplace_back(text);
  if (const double blocks = value("blocks"); blocks > 0) {
    parts.push_back(fmt::format("blocks of {}", power_of_four(value("threads") / blocks)));
    parts.push_back(fmt::format("grid {}", power_of_four(blocks / launches)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace krl::core
