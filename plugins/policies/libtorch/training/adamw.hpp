// AdamW (Loshchilov and Hutter 2019) over flat arrays, on any device.
#pragma once

#include <kernelrl/policy.hpp>
#include <optional>
#include <vector>

#include "plugins/policies/libtorch/model/operations.hpp"

namespace krl::libtorch {

// Throws krl::Failure (KRL_INVALID_ARGUMENT) that names a setting out of its range.
void check_optimizer(const krl_optimizer& optimizer);

// √Σx², summed in double on the CPU and in float32, pairwise, on a GPU. Waits for the device.
double global_norm(const at::Tensor& x);

// Neighbouring numbers that are stepped alike.
struct ParameterGroup {
  std::int64_t size;
  bool decays;                              // the optimiser's weight decay applies
  std::optional<double> lr = std::nullopt;  // replaces the optimiser's rate
};

class AdamW {
 public:
  // The groups are one after the other. `operations` outlives this.
  AdamW(const Operations& operations, std::vector<ParameterGroup> groups)
      : operations_(operations), groups_(std::move(groups)) {}

  // Restores the state after `steps` steps.
  void restore(std::int64_t steps) { steps_ = steps; }

  // One step with gradient_scale · gradient, which is zero afterwards. Flat tensors [total] of one
  // type. REQUIRES: a checked optimizer.
  void step(const krl_optimizer& optimizer, double gradient_scale, const at::Tensor& weights,
            const at::Tensor& gradient, const at::Tensor& first_moment,
            const at::Tensor& second_moment);

 private:
  const Operations& operations_;
  std::vector<ParameterGroup> groups_;
  std::int64_t steps_ = 0;
};

}  // namespace krl::libtorch
