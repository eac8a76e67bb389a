#include "training/adamw.hpp"

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

AdamW::AdamW(std::int64_t decayed, std::int64_t total, at::Device device)
    : decayed_(decayed), total_(total) {
  for (int group = 0; group < 2; ++group) {
    step_counts_.push_back(at::zeros({}, at::TensorOptions(at::kFloat).device(device)));
  }
}

void AdamW::restore(std::int64_t steps) {
  for (at::Tensor& count : step_counts_) count.fill_(static_cast<double>(steps));
}

void AdamW::step(const krl_optimizer& optimizer, const at::Tensor& weights,
                 const at::Tensor& gradient, const at::Tensor& first_moment,
                 const at::Tensor& second_moment) {
  const auto group = [&](std::size_t index, std::int64_t begin, std::int64_t end, double decay) {
    if (begin == end) return;
    const auto slice = [&](const at::Tensor& flat) { return flat.narrow(0, begin, end - begin); };
    step_counts_[index].add_(1);
    at::_fused_adamw_({slice(weights)}, {slice(gradient)}, {slice(first_moment)},
                      {slice(second_moment)}, {}, {step_counts_[index]}, optimizer.lr,
                      optimizer.beta1, optimizer.beta2, decay, optimizer.epsilon,
                      /*amsgrad=*/false, /*maximize=*/false);
  };
  group(0, 0, decayed_, optimizer.weight_decay);
  group(1, decayed_, total_, 0);
}

}  // namespace krl::libtorch
