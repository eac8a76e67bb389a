// A permutation that follows from a seed, the same with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace krl {

// 0 … n−1 in an order drawn from `seed` (Fisher-Yates over splitmix64).
std::vector<std::size_t> permutation(std::size_t n, std::uint64_t seed);

}  // namespace krl
