// Perturbs inputs, to measure the effect of rounding on a reference: each element up or down, by a
// table of random signs that grows with the largest input. Used by one thread, in inference mode.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace krl::evaluator {

class Nudges {
 public:
  // `values`: float32 or float64, on one device always. Moved by an ulp of float32, or in float64 by
  // kLittle of one. Each `draw`, from 0 to kMostDraws, moves each `place`, below kMostPlaces, in a
  // way of its own. What an even draw moves alike of two neighbours, the next one moves apart: a
  // difference of two that both draws leave alone would pass for exact.
  at::Tensor moved(const at::Tensor& values, std::int64_t draw, std::int64_t place);
  // Equal values are moved alike: what ties still does.
  static at::Tensor moved_by_value(const at::Tensor& values, std::int64_t draw);

  static constexpr std::int64_t kMostDraws = 8, kMostPlaces = 64;
  static constexpr double kLittle = 0x1p-17;

 private:
  at::Tensor even_, odd_;  // 1 + 2^-23 or 1 - 2^-23: of draws
};

}  // namespace krl::evaluator
