// The oracle's answer for one output. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace krl::evaluator {

// For floating types, holds the value in float64 and the error that rounding to float32 may cause
// there (reference.hpp). For integers and bools, holds the exact values, followed by as many
// alternatives that are also right (reference.hpp). kAnyInteger accepts any integer, because
// converting a NaN or an infinity is undefined.
inline constexpr std::int64_t kAnyInteger = std::numeric_limits<std::int64_t>::min();

struct ExpectedOutput {
  std::vector<double> reals;
  std::vector<float> rounding;
  std::vector<std::int64_t> integers;

  std::size_t bytes() const {
    return reals.size() * sizeof(double) + rounding.size() * sizeof(float) +
           integers.size() * sizeof(std::int64_t);
  }
};

}  // namespace krl::evaluator
