// The 32 lanes of a warp side by side: a register is a row of 32 values, a predicate a mask of 32
// bits. Operations compute all lanes and store those that take part, so that the compiler can use
// whole vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace krl::machine {

inline constexpr unsigned kLanes = 32;
inline constexpr std::size_t kRowAlignment = 64;  // bytes

using Mask = std::uint32_t;  // bit i: lane i
inline constexpr Mask kAllLanes = ~Mask{0};

// The row, or the mask of a predicate, at `offset` bytes in a frame. A row has kLanes values and
// starts at a multiple of kRowAlignment.
template <class T>
inline T* row(std::byte* frame, std::uint32_t offset) {
  return std::launder(
      reinterpret_cast<T*>(__builtin_assume_aligned(frame + offset, kRowAlignment)));
}

// to[i] = from[i] for the lanes of `mask`. Both are rows.
template <class T>
inline void store_lanes(T* __restrict to, const T* __restrict from, Mask mask) {
  for (unsigned i = 0; i < kLanes; ++i) {
    to[i] = (mask >> i & 1) != 0 ? from[i] : to[i];  // branch-free, so that it is vectorized
  }
}

// row[i] = value(i) for the lanes of `mask`; `value` is called for every lane, in any order. It may
// read any row.
template <class T, class Value>
inline void set_lanes(T* to, Mask mask, Value value) {
  alignas(kRowAlignment) T computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) computed[i] = value(i);
  if (mask == kAllLanes) {
    std::memcpy(to, computed, sizeof computed);
  } else {
    store_lanes(to, computed, mask);
  }
}

// The lanes for which `holds` is true; called for every lane.
template <class Holds>
inline Mask lanes_where(Holds holds) {
  Mask mask = 0;
  for (unsigned i = 0; i < kLanes; ++i) mask |= Mask{holds(i)} << i;
  return mask;
}

// Copies the lanes of `mask` from `value` to the predicate.
inline void set_predicate(Mask* predicate, Mask mask, Mask value) {
  *predicate = (*predicate & ~mask) | (value & mask);
}

}  // namespace krl::machine
