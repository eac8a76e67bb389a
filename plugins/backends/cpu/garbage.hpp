// The contents of memory that nobody has set. Each word holds another of the poisons, so that a
// result that depends on a few words is wrong in every run. Buffers without values start with it,
// and on the machine also registers, local memory, padding in shared memory, and the values that a
// warp receives from inactive lanes. Used by one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "plugins/backends/evaluator/check/poison.hpp"

namespace krl::cpu {

class Garbage {
 public:
  static constexpr std::uint32_t kMostBytes = 1024;

  explicit Garbage(std::uint64_t seed) {
    using enum evaluator::Poison;
    // Only large values show errors in maxima and minima.
    constexpr evaluator::Poison kMixture[] = {kOnes,          kZeros,         kLarge, kLarge,
                                              kLargeNegative, kLargeNegative, kSmall, kRandom};
    for (std::uint32_t i = 0; i < kWords; ++i) {
      const std::uint32_t drawn = poison_word(kRandom, seed, i);
      words_[i] = poison_word(kMixture[drawn % std::size(kMixture)], seed, kWords + i);
    }
  }

  // So many bytes, at most kMostBytes: others each time.
  const std::uint32_t* take(std::uint32_t bytes) {
    if (at_ + kMostBytes / 4 > kWords) at_ %= kStride;
    const std::uint32_t* const taken = words_.data() + at_;
    at_ += (bytes + 3) / 4 + kStride;
    return taken;
  }
  void fill(std::span<std::byte> memory) {
    while (!memory.empty()) {
      const std::size_t part = std::min<std::size_t>(memory.size(), kMostBytes);
      std::memcpy(memory.data(), take(static_cast<std::uint32_t>(part)), part);
      memory = memory.subspan(part);
    }
  }

 private:
  static constexpr std::uint32_t kWords = 2048, kStride = 7;

  std::array<std::uint32_t, kWords> words_;
  std::uint32_t at_ = 0;  // index of the next word
};

}  // namespace krl::cpu
