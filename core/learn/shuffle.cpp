#include "core/learn/shuffle.hpp"

#include <numeric>
#include <utility>

namespace krl {
namespace {

// Sebastiano Vigna's splitmix64 (public domain description at prng.di.unimi.it).
std::uint64_t next(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

std::vector<std::size_t> permutation(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[next(seed) % i]);
  return order;
}

}  // namespace krl
