// Words that only a key can predict, however many others are known: they fill an arena outside of
// sets, and hide seeds. The same definition as in trusted_kernels.cu. Pure.
#pragma once

#include <cstdint>
#include <kernelrl/seeds.hpp>

#include "plugins/backends/cuda/worker/protocol.hpp"

namespace krl::gpu {

// The guard at a word of an arena, or any other number's word.
constexpr std::uint64_t guard_at(std::uint64_t word, const GuardKey& key) {
  const std::uint64_t once = mixed(key.start + (word + 1) * kSeedStep) ^ key.mask;
  return mixed(once) ^ (key.start << 32 | key.start >> 32);
}

}  // namespace krl::gpu
