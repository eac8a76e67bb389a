#include "model/llama.hpp"

namespace krl::libtorch {

std::vector<at::Tensor> parameter_views(const ParameterLayout& layout, const at::Tensor& flat) {
  std::vector<at::Tensor> views;
  for (const ParameterSlot& slot : layout.slots) {
    views.push_back(flat.narrow(0, slot.offset, slot.size).view(slot.shape));
  }
  return views;
}

RotaryTensors rotary_tensors(const ModelConfig& config, at::ScalarType type) {
  const RotaryTable table = rotary_table(config);
  const auto tensor = [&](const std::vector<float>& values) {
    return at::tensor(values).view({config.context, config.head_size() / 2}).to(type);
  };
  return {tensor(table.cosine), tensor(table.sine)};
}

namespace {

// Each head of the queries and of the keys normalised by itself; the values as they are.
at::Tensor normed_heads(const at::Tensor& qkv, const at::Tensor& query_gain,
                        const at::Tensor& key_gain, const ModelConfig& config) {
  const auto parts =
      qkv.split_with_sizes({config.attention_width(), config.kv_width(), config.kv_width()}, 1);
  const auto norm = [&](const at::Tensor& heads, const at::Tensor& gain) {
    return rms_norm(heads.reshape({-1, config.head_size()}), gain, config.norm_epsilon)
        .view(heads.sizes());
  };
  return at::cat({norm(parts[0], query_gain), norm(parts[1], key_gain), parts[2]}, 1);
}

}  // namespace

Predictions forward(const ParameterLayout& layout, const std::vector<at::Tensor>& weights,
                    const RotaryTensors& rotary, const PackedBatch& batch, double temperature) {
  const ModelConfig& config = layout.config;
  const auto cosine = rotary.cosine.index_select(0, batch.positions);
  const auto sine = rotary.sine.index_select(0, batch.positions);
  const at::Tensor& embedding = weights[layout.embedding()];

  auto x = at::embedding(embedding, batch.tokens) * config.embedding_scale;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const auto weight = [&](std::size_t slot) { return weights[slot]; };
    const auto normed = rms_norm(x, weight(layout.attention_norm(layer)), config.norm_epsilon);
    auto qkv = at::linear(normed, weight(layout.qkv(layer)));
    if (config.qkv_bias()) qkv = qkv + weight(layout.qkv_bias(layer));
    if (config.qk_norm()) {
      qkv = normed_heads(qkv, weight(layout.query_norm(layer)), weight(layout.key_norm(layer)),
                         config);
    }
    const auto attended = rotary_attention(qkv, cosine, sine, batch.starts, config);
    x = at::addmm(x, attended, weight(layout.attention_out(layer)).t());
    const auto gate_up =
        at::linear(rms_norm(x, weight(layout.ffn_norm(layer)), config.norm_epsilon),
                   weight(layout.gate_up(layer)));
    x = at::addmm(x, swiglu(gate_up), weight(layout.down(layer)).t());
  }
  const auto hidden = rms_norm(x.index_select(0, batch.predicting), weights[layout.final_norm()],
                               config.norm_epsilon);
  return predict(hidden, weights[layout.head()], batch.targets, temperature);
}

}  // namespace krl::libtorch
