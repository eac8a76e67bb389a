// The operations of a local policy for ranks that the boundary does not have: its part in
// operations that only rank 0 performs completely.
#pragma once

#include <kernelrl/policy.hpp>

namespace krl::libtorch {

struct RankPolicy : TrainablePolicy {
  // Forgets the gradient so far.
  virtual void drop_gradient() = 0;
  // The part of other ranks while rank 0 is in save(): they send it their slices.
  virtual void join_save() = 0;
};

}  // namespace krl::libtorch
