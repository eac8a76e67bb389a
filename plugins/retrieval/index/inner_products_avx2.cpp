// Compiled for AVX2 and FMA where there are any (CMakeLists.txt).
#include "plugins/retrieval/index/inner_products.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace krl::retrieval {
namespace {

float sum_of_lanes(__m256 lanes) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

}  // namespace

void avx2_inner_products(const float* query, const float* rows, std::size_t count,
                         std::size_t dimension, float* products) {
  constexpr std::size_t kWidth = 8, kStep = 4 * kWidth;
  for (std::size_t row = 0; row < count; ++row, rows += dimension) {
    __m256 sums[4] = {};
    std::size_t i = 0;
    for (; i + kStep <= dimension; i += kStep) {
      for (std::size_t part = 0; part < 4; ++part) {
        const std::size_t at = i + part * kWidth;
        sums[part] =
            _mm256_fmadd_ps(_mm256_loadu_ps(query + at), _mm256_loadu_ps(rows + at), sums[part]);
      }
    }
    float sum = sum_of_lanes(
        _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3])));
    for (; i < dimension; ++i) sum += query[i] * rows[i];
    products[row] = sum;
  }
}

}  // namespace krl::retrieval
#else

namespace krl::retrieval {

void avx2_inner_products(const float* query, const float* rows, std::size_t count,
                         std::size_t dimension, float* products) {
  portable_inner_products(query, rows, count, dimension, products);
}

}  // namespace krl::retrieval
#endif
