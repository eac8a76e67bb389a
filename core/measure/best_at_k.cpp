#include "core/measure/best_at_k.hpp"

#include <algorithm>

namespace krl::core {

double best_at_k(std::vector<double> values, std::size_t k) {
  std::ranges::sort(values);
  const auto n = values.size();
  // C(i−1, k−1) / C(n, k), from i = n downwards: each follows from the one above without large
  // numbers.
  double share = static_cast<double>(k) / static_cast<double>(n);
  double expected = 0;
  for (std::size_t i = n; i >= k; --i) {
    expected += share * values[i - 1];
    if (i > 1) share *= static_cast<double>(i - k) / static_cast<double>(i - 1);
  }
  return expected;
}

}  // namespace krl::core
