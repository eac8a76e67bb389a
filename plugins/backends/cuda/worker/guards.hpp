// Words that only a key can predict, however many others are known: they fill an arena outside of
// sets, and hide seeds. The same definition as in trusted_kernels.cu. Pure.
#pragma once

#include <cstdint>

#include "plugins/backends/cuda/worker/protocol.hpp"

namespace krl::gpu {

// The guard at a word of an arena, or any other number's word.
constexpr std::uint64_t guard_at(std::uint64_t word, const GuardKey& key) {
  const auto scramble = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  const std::uint64_t once = scramble(key.start + (word + 1) * 0x9e3779b97f4a7c15) ^ key.mask;
  return scramble(once) ^ (key.start << 32 | key.start >> 32);
}

}  // namespace krl::gpu
