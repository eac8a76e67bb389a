// Converts the boundary's seeds to a server's.
#pragma once

#include <cstdint>

namespace krl::openai {

// Returns the seed of the exchange whose first answer is sample `index` of a request with this
// seed: 31 bits, which every server takes (llama.cpp has 32, where the largest value means a random
// seed), and which depend on all bits of both. Mixed as in SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint32_t server_seed(std::uint64_t seed, std::uint32_t index) {
  std::uint64_t z = seed + (std::uint64_t{index} + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 33);
}

}  // namespace krl::openai
