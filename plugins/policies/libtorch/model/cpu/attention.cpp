#include "plugins/policies/libtorch/model/cpu/attention.hpp"

#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;
using torch::autograd::Variable;

// Turns the pairs (i, i + half) of the first `heads` heads of each row, by the angle or back.
void rotate(at::Tensor& qkv, const at::Tensor& cosine, const at::Tensor& sine, std::int64_t heads,
            bool back) {
  AT_DISPATCH_FLOATING_TYPES(qkv.scalar_type(), "rotate", [&] {
    const std::int64_t half = cosine.size(1), rows = qkv.size(0), width = qkv.size(1);
    const auto* c = cosine.const_data_ptr<scalar_t>();
    const auto* s = sine.const_data_ptr<scalar_t>();
    auto* data = qkv.mutable_data_ptr<scalar_t>();
    const scalar_t sign = back ? -1 : 1;
    for (std::int64_t row = 0; row < rows; ++row, c += half, s += half) {
      for (std::int64_t head = 0; head < heads; ++head) {
        scalar_t* low = data + row * width + head * 2 * half;
        scalar_t* high = low + half;
        for (std::int64_t i = 0; i < half; ++i) {
          const scalar_t a = low[i], b = high[i];
          low[i] = a * c[i] - sign * b * s[i];
          high[i] = b * c[i] + sign * a * s[i];
        }
      }
    }
  });
}

// Returns one sequence's heads in the layout of torch's attention, [1, heads, length, head_size],
// without a copy.
at::Tensor heads_of(const at::Tensor& rows, std::int64_t first_column, std::int64_t heads,
                    std::int64_t head_size) {
  return rows.narrow(1, first_column, heads * head_size)
      .unflatten(1, {heads, head_size})
      .transpose(0, 1)
      .unsqueeze(0);
}

struct HeadViews {
  at::Tensor queries, keys, values;
};
HeadViews split_heads(const at::Tensor& rows, const ModelConfig& config) {
  const std::int64_t size = config.head_size(), kv = config.kv_heads;
  return {heads_of(rows, 0, config.heads, size), heads_of(rows, config.attention_width(), kv, size),
          heads_of(rows, config.attention_width() + kv * size, kv, size)};
}

// Keys or values once for each query head, and the way back: the sum over a group.
at::Tensor widen(const at::Tensor& x, const ModelConfig& config) {
  if (config.heads == config.kv_heads) return x;
  return x.repeat_interleave(config.heads / config.kv_heads, 1);
}
at::Tensor narrow_sum(const at::Tensor& x, const ModelConfig& config) {
  if (config.heads == config.kv_heads) return x;
  return x.unflatten(1, {config.kv_heads, config.heads / config.kv_heads}).sum(2);
}

class RotaryAttention : public Function<RotaryAttention> {
 public:
  static Variable forward(AutogradContext* context, const Variable& qkv, const at::Tensor& cosine,
                          const at::Tensor& sine, const std::vector<std::int64_t>& starts,
                          const ModelConfig& config) {
    auto rotated = qkv.clone();
    rotate(rotated, cosine, sine, config.heads + config.kv_heads, /*back=*/false);
    const auto out = at::empty({qkv.size(0), config.attention_width()}, qkv.options());
    tensor_list saved = {rotated, cosine, sine, out};
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      const std::int64_t length = starts[s + 1] - starts[s];
      const HeadViews heads = split_heads(rotated.narrow(0, starts[s], length), config);
      const auto [attended, normaliser] = at::_scaled_dot_product_flash_attention_for_cpu(
          heads.queries, widen(heads.keys, config), widen(heads.values, config), 0.0,
          /*is_causal=*/true);
      heads_of(out.narrow(0, starts[s], length), 0, config.heads, config.head_size())
          .copy_(attended);
      saved.push_back(normaliser);
    }
    context->save_for_backward(saved);
    context->saved_data["starts"] = starts;
    context->saved_data["heads"] = config.heads;
    context->saved_data["kv_heads"] = config.kv_heads;
    context->saved_data["head_size"] = config.head_size();
    return out;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& grads) {
    const auto saved = context->get_saved_variables();
    const auto starts = context->saved_data["starts"].toIntVector();
    ModelConfig config;
    config.heads = context->saved_data["heads"].toInt();
    config.kv_heads = context->saved_data["kv_heads"].toInt();
    config.head_dim = context->saved_data["head_size"].toInt();
    const auto &rotated = saved[0], &out = saved[3];
    const auto grad = grads[0].contiguous();
    auto by_qkv = at::empty_like(rotated);
    const auto query_heads = [&](const at::Tensor& rows) {
      return heads_of(rows, 0, config.heads, config.head_size());
    };
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      const std::int64_t begin = starts[s], length = starts[s + 1] - begin;
      const HeadViews heads = split_heads(rotated.narrow(0, begin, length), config);
      const auto [by_queries, by_keys, by_values] =
          at::_scaled_dot_product_flash_attention_for_cpu_backward(
              query_heads(grad.narrow(0, begin, length)), heads.queries, widen(heads.keys, config),
              widen(heads.values, config), query_heads(out.narrow(0, begin, length)), saved[4 + s],
              0.0, /*is_causal=*/true);
      const HeadViews to = split_heads(by_qkv.narrow(0, begin, length), config);
      to.queries.copy_(by_queries);
      to.keys.copy_(narrow_sum(by_keys, config));
      to.values.copy_(narrow_sum(by_values, config));
    }
    rotate(by_qkv, saved[1], saved[2], config.heads + config.kv_heads, /*back=*/true);
    return {by_qkv, Variable(), Variable(), Variable(), Variable()};
  }
};

}  // namespace

at::Tensor rotary_attention(const at::Tensor& qkv, const Angles& angles,
                            const std::vector<std::int64_t>& starts, const ModelConfig& config) {
  return RotaryAttention::apply(qkv, angles.cosine, angles.sine, starts, config);
}

}  // namespace krl::libtorch
