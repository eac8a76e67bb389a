#include "plugins/policies/libtorch/training/loss_inputs.hpp"

#include <limits>

#include "plugins/policies/libtorch/training/transfer.hpp"

namespace krl::libtorch {

using namespace policies;  // losses

namespace {

std::span<const float> to_span(Span<float> s) { return {s.data(), s.size()}; }

template <class T>
void append(std::vector<T>& to, Span<T> values, std::size_t count, T otherwise) {
  if (values.empty()) {
    to.insert(to.end(), count, otherwise);
  } else {
    to.insert(to.end(), values.begin(), values.end());
  }
}

}  // namespace

void add_loss_inputs(const LossOptions& options, const Examples& examples, const MicroBatch& batch,
                     at::Device device, LossInputs& inputs) {
  std::vector<double> factors, shares;
  std::vector<float> sampled, advantages, old_values, returns;
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t i : batch) {
    const Example example = examples[i];
    const std::size_t begin = factors.size(), n = example.tokens().size();
    factors.resize(begin + n);
    shares.resize(begin + n);
    weigh_tokens(options, to_span(example.weights()), std::span(factors).subspan(begin),
                 std::span(shares).subspan(begin));
    append(sampled, example.logprobs(), n, kNone);
    append(advantages, example.advantages(), n, 0.0f);
    append(old_values, example.values(), n, kNone);
    append(returns, example.returns(), n, kNone);
  }
  const auto tensor = [&](const auto& values) { return to_device(values, device); };
  inputs.factors = tensor(factors);
  inputs.shares = tensor(shares);
  inputs.sampled = tensor(sampled);
  inputs.advantages = tensor(advantages);
  inputs.old_values = tensor(old_values);
  inputs.returns = tensor(returns);
}

at::Tensor given_logprobs(const Examples& examples, const MicroBatch& batch, GivenLogprobs member,
                          at::Device device) {
  std::vector<float> given;
  for (const std::size_t i : batch) {
    const Example example = examples[i];
    const Span<float> logprobs = (example.*member)();
    if (logprobs.empty()) return {};
    given.insert(given.end(), logprobs.begin(), logprobs.end());
  }
  return to_device(given, device);
}

bool all_have(const Examples& examples, GivenLogprobs member) {
  if (examples.empty()) return false;
  for (const Example example : examples) {
    if ((example.*member)().empty()) return false;
  }
  return true;
}

at::Tensor sequence_log_ratios(const Examples& examples, const MicroBatch& batch,
                               const at::Tensor& now, const at::Tensor& start) {
  const at::Tensor now_host = to_host(now, at::kDouble);
  const at::Tensor start_host = start.defined() ? to_host(start, at::kDouble) : at::Tensor();
  const double* now_at = now_host.const_data_ptr<double>();
  std::vector<double> ratios;
  for (const std::size_t i : batch) {
    const Example example = examples[i];
    const std::size_t begin = ratios.size(), n = example.tokens().size();
    std::vector<double> base(example.logprobs().begin(), example.logprobs().end());
    if (start.defined()) {
      const double* from = start_host.const_data_ptr<double>() + begin;
      base.assign(from, from + n);
    }
    const double ratio = mean_log_ratio({now_at + begin, n}, base, to_span(example.weights()));
    ratios.insert(ratios.end(), n, ratio);
  }
  return to_device(ratios, now.device());
}

}  // namespace krl::libtorch
