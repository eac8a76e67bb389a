// Random numbers by name instead of by order: draw number `position` of sample `sample` under
// `seed` is the same regardless of when, where and with what else it is generated. Philox 4x32-10
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace krl::libtorch {

// Returns Philox's block of four 32-bit numbers for this counter and key.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// A number in (0, 1), uniform on the 2⁵² midpoints.
inline double uniform(std::uint64_t seed, std::uint64_t sample, std::uint64_t position) {
  const auto block =
      philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32),
              static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32)},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const std::uint64_t bits = (std::uint64_t{block[0]} << 32 | block[1]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

}  // namespace krl::libtorch
