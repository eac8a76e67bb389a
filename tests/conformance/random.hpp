// A stream of numbers that is the same everywhere: what is generated with it was recorded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace krl::conformance {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {  // SplitMix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() >> 16) % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class Container>
  const auto& one_of(const Container& container) {
    return container[below(container.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace krl::conformance
