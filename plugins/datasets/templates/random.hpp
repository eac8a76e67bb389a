// Random numbers that are a pure function of (seed, index, how many were drawn): no state is shared
// between items, and no standard distribution is used, so the same item comes out on every machine
// and with every library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <kernelrl/seeds.hpp>
#include <vector>

namespace krl::templates {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t index) : key_(mixed(seed + kSeedStep) ^ mixed(index)) {}

  // 64 random bits.
  std::uint64_t next() { return mixed(key_ + kSeedStep * ++counter_); }

  // A whole number in [0, count), which must be positive. The bias is below count / 2^64.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>((static_cast<Wide>(next()) * count) >> 64);
  }

  // Draws from [0, 1), with 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  bool chance(double probability) { return uniform() < probability; }

  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace krl::templates
