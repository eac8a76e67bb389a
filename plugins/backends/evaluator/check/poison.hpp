// The contents of unwritten memory before a launch. On GPUs a run has one kind of poison; the
// machine mixes the kinds within a run (cpu/garbage.hpp).
//
// Every constant is the identity of some reduction, so a kernel that forgets to initialise can be
// right by accident. Therefore the poison differs from run to run of a case and from launch to
// launch: a result that depends on it is wrong in at least one of them. Pure.
#pragma once

#include <cstdint>

namespace krl::evaluator {

enum class Poison : std::uint8_t {
  kOnes,  // NaN, -1
  kZeros,
  kLarge,          // 3.4e38, 2139062143
  kLargeNegative,  // -1.7e38, -16843010
  kSmall,          // 0.0115, 1010580540
  kRandom,         // drawn for each word
};
inline constexpr std::uint32_t kPoisons = 6;

// The poison of the runs of a case, in turn: from a seed, no two in a row are alike.
constexpr Poison poison_of(std::uint64_t seed, std::uint64_t turn) {
  return static_cast<Poison>((seed % kPoisons + turn) % kPoisons);
}

// Four bytes of poison, at a multiple of four.
constexpr std::uint32_t poison_word(Poison poison, std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint32_t kWords[] = {0xffffffff, 0, 0x7f7f7f7f, 0xfefefefe, 0x3c3c3c3c};
  if (poison != Poison::kRandom) return kWords[static_cast<std::uint32_t>(poison)];
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;  // SplitMix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(z >> 32);
}

}  // namespace krl::evaluator
