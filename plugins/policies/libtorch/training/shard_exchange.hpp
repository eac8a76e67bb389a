// Exchanges gradients and weights with the trainers of other ranks, each of which has seen a part
// of a step's examples. The optimiser's state is cut into slices (ZeRO-1, Rajbhandari et al. 2020):
// a rank steps its slice of the weights with its slice of the gradient, and receives the others'
// weights. Every rank makes the same calls in the same order. Used by one thread at a time.
#pragma once

#include <cstdint>

#include "plugins/policies/libtorch/training/slice.hpp"

namespace at {
class Tensor;
}

namespace krl::libtorch {

class ShardExchange {
 public:
  virtual ~ShardExchange() = default;

  // This rank's part of a flat array of `total` elements.
  virtual Slice slice(std::int64_t total) const = 0;
  // Adds up all ranks' `flat`, [total]: this rank's slice holds the sum afterwards; the rest is
  // undefined.
  virtual void reduce_scatter(const at::Tensor& flat) = 0;
  // Gives all ranks the slices of `flat`, [total], that each of them has.
  virtual void all_gather(const at::Tensor& flat) = 0;
  // The sum of all ranks' numbers.
  virtual double sum(double value) = 0;
  // Rank 0 gets the whole array, on the CPU, from the slices that the ranks have; the others get an
  // undefined tensor.
  virtual at::Tensor gather_on_first(const at::Tensor& slice, std::int64_t total) = 0;
};

}  // namespace krl::libtorch
