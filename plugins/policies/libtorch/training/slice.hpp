// The part of a flat array that one of several ranks steps.
#pragma once

#include <cstdint>

namespace krl::libtorch {

struct Slice {  // [begin, end)
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const Slice&) const = default;
};

// Slices of total / ranks elements; the last rank's also has the fewer than `ranks` that are left.
inline Slice slice_of_rank(std::int64_t total, int rank, int ranks) {
  const std::int64_t each = total / ranks;
  return {rank * each, rank + 1 == ranks ? total : (rank + 1) * each};
}

}  // namespace krl::libtorch
