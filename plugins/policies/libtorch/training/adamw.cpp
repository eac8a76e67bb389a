#include "plugins/policies/libtorch/training/adamw.hpp"

#include <cmath>

namespace krl::libtorch {

void check_optimizer(const krl_optimizer& o) {
  const auto refuse = [](const char* name, const char* range) {
    invalid_argument("optimizer." + std::string(name) + " must be " + range);
  };
  const auto finite_from_0 = [](double x) { return x >= 0 && std::isfinite(x); };
  if (!finite_from_0(o.lr)) refuse("lr", "a number from 0 on");
  if (!(o.beta1 >= 0 && o.beta1 < 1)) refuse("beta1", "in [0, 1)");
  if (!(o.beta2 >= 0 && o.beta2 < 1)) refuse("beta2", "in [0, 1)");
  if (!(o.epsilon > 0 && std::isfinite(o.epsilon))) refuse("epsilon", "greater than 0");
  if (!finite_from_0(o.weight_decay)) refuse("weight_decay", "a number from 0 on");
  if (!finite_from_0(o.grad_clip)) refuse("grad_clip", "a number from 0 on");
}

double global_norm(const at::Tensor& x) {
  // A copy in double is too much for a GPU's memory.
  return (x.is_cpu() ? x.to(at::kDouble) : x).norm().item<double>();
}

void AdamW::step(const krl_optimizer& optimizer, double gradient_scale, const at::Tensor& weights,
                 const at::Tensor& gradient, const at::Tensor& first_moment,
                 const at::Tensor& second_moment) {
  ++steps_;
  std::int64_t begin = 0;
  for (const ParameterGroup& group : groups_) {
    const auto slice = [&](const at::Tensor& flat) { return flat.narrow(0, begin, group.size); };
    operations_.adamw_step({.weights = slice(weights),
                            .gradient = slice(gradient),
                            .first_moment = slice(first_moment),
                            .second_moment = slice(second_moment),
                            .step = steps_,
                            .lr = group.lr.value_or(optimizer.lr),
                            .beta1 = optimizer.beta1,
                            .beta2 = optimizer.beta2,
                            .epsilon = optimizer.epsilon,
                            .weight_decay = group.decays ? optimizer.weight_decay : 0,
                            .gradient_scale = gradient_scale});
    begin += group.size;
  }
}

}  // namespace krl::libtorch
