// What a local policy does for ranks beyond what the boundary asks of it: its part in what rank 0
// alone does in full.
#pragma once

#include <kernelrl/policy.hpp>

namespace krl::libtorch {

struct RankPolicy : TrainablePolicy {
  // Forgets the gradient so far.
  virtual void drop_gradient() = 0;
  // What ranks other than 0 do while rank 0 is in save(): they give it their slices.
  virtual void join_save() = 0;
};

}  // namespace krl::libtorch
