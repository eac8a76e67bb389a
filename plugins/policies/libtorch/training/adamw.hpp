// AdamW (Loshchilov and Hutter 2019) over flat arrays, on any device.
#pragma once

#include <kernelrl/policy.hpp>
#include <vector>

#include "torch.hpp"

namespace krl::libtorch {

// Throws krl::Failure (KRL_INVALID_ARGUMENT) that names a setting out of its range.
void check_optimizer(const krl_optimizer& optimizer);

// √Σx², summed in double on the CPU and in float32, pairwise, on a GPU. Waits for the device.
double global_norm(const at::Tensor& x);

class AdamW {
 public:
  // The first `decayed` of `total` numbers have weight decay; the others have none.
  AdamW(std::int64_t decayed, std::int64_t total, at::Device device);

  // As after `steps` steps.
  void restore(std::int64_t steps);

  // One step. Flat tensors [total] of one type. REQUIRES: a checked optimizer.
  void step(const krl_optimizer& optimizer, const at::Tensor& weights, const at::Tensor& gradient,
            const at::Tensor& first_moment, const at::Tensor& second_moment);

 private:
  std::int64_t decayed_, total_;
  std::vector<at::Tensor> step_counts_;  // as torch wants it: one a group of parameters
};

}  // namespace krl::libtorch
