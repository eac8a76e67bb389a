// Perturbs inputs, to measure the effect of rounding on a reference: each element up or down, by a
// table of random signs that grows with the largest input. Used by one thread, in inference mode.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace krl::evaluator {

class Nudges {
 public:
  // Returns `values` (float32 or float64, always on the same device) moved by an ulp of float32, or
  // by kLittle ulps in float64. Each `draw`, from 0 to kMostDraws, moves each `place`, below
  // kMostPlaces, in its own way. Two neighbours that an even draw moves alike are moved apart by
  // the next draw; otherwise their difference, unchanged in both draws, would pass for exact.
  at::Tensor moved(const at::Tensor& values, std::int64_t draw, std::int64_t place);
  // Equal values are moved alike: what ties still does.
  static at::Tensor moved_by_value(const at::Tensor& values, std::int64_t draw);

  static constexpr std::int64_t kMostDraws = 8, kMostPlaces = 64;
  static constexpr double kLittle = 0x1p-17;

 private:
  at::Tensor even_, odd_;  // 1 + 2^-23 or 1 - 2^-23: of draws
};

}  // namespace krl::evaluator
