// The oracle's answer for one output. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace krl::evaluator {

// For floating types the value in float64 and the error that rounding to float32 may make there
// (reference.hpp); for integers and bools the exact
// values, and after them, as many again, others that are right (reference.hpp).
// Among integers: any is right, as no conversion of a NaN or an infinity is defined.
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
