// The inner products of one vector with the rows of a matrix, by the widest instructions that the
// processor has. Thread-safe.
#pragma once

#include <cstddef>

namespace krl::retrieval {

// products[i] = query · rows[i], for `count` rows of `dimension` floats.
using InnerProducts = void (*)(const float* query, const float* rows, std::size_t count,
                               std::size_t dimension, float* products);

InnerProducts inner_products();

// The two that it chooses from; the second needs AVX2 and FMA.
void portable_inner_products(const float* query, const float* rows, std::size_t count,
                             std::size_t dimension, float* products);
void avx2_inner_products(const float* query, const float* rows, std::size_t count,
                         std::size_t dimension, float* products);

}  // namespace krl::retrieval
