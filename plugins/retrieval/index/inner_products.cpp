#include "plugins/retrieval/index/inner_products.hpp"

namespace krl::retrieval {

void portable_inner_products(const float* query, const float* rows, std::size_t count,
                             std::size_t dimension, float* products) {
  constexpr std::size_t kLanes = 16;
  for (std::size_t row = 0; row < count; ++row, rows += dimension) {
    float sums[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= dimension; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        sums[lane] += query[i + lane] * rows[i + lane];
      }
    }
    float sum = 0;
    for (const float part : sums) sum += part;
    for (; i < dimension; ++i) sum += query[i] * rows[i];
    products[row] = sum;
  }
}

InnerProducts inner_products() {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return avx2_inner_products;
#endif
  return portable_inner_products;
}

}  // namespace krl::retrieval
