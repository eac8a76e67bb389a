// Pure functions that make seeds and streams of random numbers: the same on every machine and with
// every library. Header-only, C++17, no dependencies; thread-safe.
#pragma once

#include <cstdint>

namespace krl {

// The increment of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// 2014), by which its states are apart.
inline constexpr std::uint64_t kSeedStep = 0x9E3779B97F4A7C15U;

// The finaliser of SplitMix64: a permutation in which every bit depends on all bits.
inline constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// The seed for sample `index` of a request with this seed: 31 bits, which every server takes
// (llama.cpp has 32, of which the largest means a random one), and which depend on all bits of
// both.
inline constexpr std::uint32_t server_seed(std::uint64_t seed, std::uint32_t index) {
  return static_cast<std::uint32_t>(mixed(seed + (std::uint64_t{index} + 1) * kSeedStep) >> 33U);
}

}  // namespace krl
