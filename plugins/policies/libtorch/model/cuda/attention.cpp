#include "plugins/policies/libtorch/model/cuda/attention.hpp"

#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

constexpr std::int64_t kCausalFromTopLeft = 1;  // torch's custom_mask_type

struct HeadViews {
  at::Tensor queries, keys, values;  // [N, heads, head_size]
};

HeadViews split_heads(const at::Tensor& x, const ModelConfig& config) {
  const auto part = [&](std::int64_t first, std::int64_t heads) {
    const std::int64_t size = config.head_size();
    return x.narrow(1, first * size, heads * size).unflatten(1, {heads, size});
  };
  return {part(0, config.heads), part(config.heads, config.kv_heads),
          part(config.heads + config.kv_heads, config.kv_heads)};
}

at::Tensor split_out(const at::Tensor& x, const ModelConfig& config) {
  return x.unflatten(1, {config.heads, config.head_size()});
}

// The memory-efficient attention does not support groups: keys and values are repeated for each
// query head, and summed over a group on the way back. It requires a batch of one.
at::Tensor widened(const at::Tensor& x, const ModelConfig& config) {
  return x.repeat_interleave(config.heads / config.kv_heads, 1).unsqueeze(0);
}
at::Tensor group_sum(const at::Tensor& x, const ModelConfig& config) {
  return x.squeeze(0).unflatten(1, {config.kv_heads, config.heads / config.kv_heads}).sum(2);
}

at::Tensor attend_float32(const HeadViews& views, const ModelConfig& config,
                          const PackedBatch& batch, AttentionTrace& trace) {
  const auto [out, normaliser, seed, offset, longest_query, longest_key] =
      at::_efficient_attention_forward(views.queries.unsqueeze(0), widened(views.keys, config),
                                       widened(views.values, config), std::nullopt,
                                       batch.boundaries, batch.boundaries, batch.longest,
                                       batch.longest, 0.0, kCausalFromTopLeft,
                                       /*compute_log_sumexp=*/true);
  trace = {normaliser, seed, offset};
  return out.squeeze(0);
}

AttentionGradients attend_backward_float32(const at::Tensor& by_out, const HeadViews& views,
                                           const at::Tensor& out, const ModelConfig& config,
                                           const PackedBatch& batch, const AttentionTrace& trace) {
  const auto [queries, keys, values, bias] = at::_efficient_attention_backward(
      by_out.unsqueeze(0), views.queries.unsqueeze(0), widened(views.keys, config),
      widened(views.values, config), std::nullopt, out.unsqueeze(0), batch.boundaries,
      batch.boundaries, batch.longest, batch.longest, trace.normaliser, 0.0, trace.first_state,
      trace.second_state, kCausalFromTopLeft, /*bias_requires_grad=*/false);
  return {queries.squeeze(0).contiguous(), group_sum(keys, config), group_sum(values, config)};
}

}  // namespace

at::Tensor attend(const at::Tensor& heads, const ModelConfig& config, const PackedBatch& batch,
                  AttentionTrace& trace) {
  const HeadViews views = split_heads(heads, config);
  if (heads.scalar_type() == at::kFloat) {
    return attend_float32(views, config, batch, trace).flatten(1);
  }
  const auto [out, normaliser, state, unused, mask] = at::_flash_attention_forward(
      views.queries, views.keys, views.values, batch.boundaries, batch.boundaries, batch.longest,
      batch.longest, 0.0, /*is_causal=*/true, /*return_debug_mask=*/false);
  trace = {normaliser, state, unused};
  return out.flatten(1);
}

AttentionGradients attend_backward(const at::Tensor& by_out, const at::Tensor& heads,
                                   const at::Tensor& out, const ModelConfig& config,
                                   const PackedBatch& batch, const AttentionTrace& trace) {
  const HeadViews views = split_heads(heads, config);
  const at::Tensor by = split_out(by_out, config), result = split_out(out, config);
  if (heads.scalar_type() == at::kFloat) {
    return attend_backward_float32(by, views, result, config, batch, trace);
  }
  const auto [queries, keys, values] = at::_flash_attention_backward(
      by, views.queries, views.keys, views.values, result, trace.normaliser, batch.boundaries,
      batch.boundaries, batch.longest, batch.longest, 0.0, /*is_causal=*/true, trace.first_state,
      trace.second_state);
  return {queries.contiguous(), keys.contiguous(), values.contiguous()};
}

}  // namespace krl::libtorch
