// The oracle's answer for one output. A plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace krl::evaluator {

// For floating types the value in float64 and the error that rounding to float32 may make there
// (reference.hpp); for integers and bools the exact value.
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
