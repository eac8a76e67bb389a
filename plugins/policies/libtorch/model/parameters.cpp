#include "model/parameters.hpp"

#include <cmath>
#include <numbers>

#include "generation/random_stream.hpp"

namespace krl::libtorch {

ParameterLayout::ParameterLayout(const ModelConfig& model) : config(model) {
  const auto add = [this](std::string name, std::vector<std::int64_t> shape, double deviation) {
    std::int64_t size = 1;
    for (const std::int64_t dimension : shape) size *= dimension;
    slots.push_back({std::move(name), std::move(shape), total, size, deviation});
    total += size;
  };
  const auto layer_name = [](std::int64_t layer, const char* part) {
    return "layers." + std::to_string(layer) + "." + part + ".weight";
  };
  // Variance 1 / inputs keeps activations at 1; what is added to the residual stream 2 · layers
  // times is scaled down so that the stream stays there too (GPT-2).
  const double wide = 1 / std::sqrt(static_cast<double>(config.hidden));
  const double residual = 1 / std::sqrt(2.0 * static_cast<double>(config.layers));
  const double deep = 1 / std::sqrt(static_cast<double>(config.ffn));
  constexpr double kEmbeddingDeviation = 0.02;
  add("embedding.weight", {config.vocabulary, config.hidden}, kEmbeddingDeviation);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    add(layer_name(layer, "attention.qkv"), {config.qkv_width(), config.hidden}, wide);
    add(layer_name(layer, "attention.out"), {config.hidden, config.hidden}, wide * residual);
    add(layer_name(layer, "ffn.gate_up"), {2 * config.ffn, config.hidden}, wide);
    add(layer_name(layer, "ffn.down"), {config.hidden, config.ffn}, deep * residual);
  }
  matrices_end = total;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    add(layer_name(layer, "attention.norm"), {config.hidden}, 0);
    add(layer_name(layer, "ffn.norm"), {config.hidden}, 0);
  }
  add("norm.weight", {config.hidden}, 0);
}

std::vector<float> initial_weights(const ParameterLayout& layout, std::uint64_t seed) {
  std::vector<float> weights(static_cast<std::size_t>(layout.total), 1.0f);
  for (std::size_t slot = 0; slot < layout.slots.size(); ++slot) {
    const ParameterSlot& parameter = layout.slots[slot];
    if (parameter.deviation == 0) continue;
    float* values = weights.data() + parameter.offset;
    for (std::int64_t i = 0; i < parameter.size; ++i) {  // Box and Muller 1958
      const auto draw = static_cast<std::uint64_t>(2 * i);
      const double radius = std::sqrt(-2 * std::log(uniform(seed, slot, draw)));
      const double angle = 2 * std::numbers::pi * uniform(seed, slot, draw + 1);
      values[i] = static_cast<float>(parameter.deviation * radius * std::cos(angle));
    }
  }
  return weights;
}

void pack_weights(const ParameterLayout& layout, std::span<const float> weights,
                  DecoderWeights& packed) {
  const auto pack_slot = [&](std::size_t slot, PackedMatrix& matrix) {
    const ParameterSlot& parameter = layout.slots[slot];
    pack(weights.data() + parameter.offset, parameter.shape[0], parameter.shape[1], matrix);
  };
  const auto copy_slot = [&](std::size_t slot, std::vector<float>& to) {
    const float* from = weights.data() + layout.slots[slot].offset;
    to.assign(from, from + layout.slots[slot].size);
  };
  packed.config = layout.config;
  packed.layers.resize(static_cast<std::size_t>(layout.config.layers));
  for (std::int64_t i = 0; i < layout.config.layers; ++i) {
    DecoderWeights::Layer& layer = packed.layers[static_cast<std::size_t>(i)];
    copy_slot(layout.attention_norm(i), layer.attention_norm);
    copy_slot(layout.ffn_norm(i), layer.ffn_norm);
    pack_slot(layout.qkv(i), layer.qkv);
    pack_slot(layout.attention_out(i), layer.attention_out);
    pack_slot(layout.gate_up(i), layer.gate_up);
    pack_slot(layout.down(i), layer.down);
  }
  copy_slot(layout.embedding(), packed.embedding);
  pack_slot(layout.embedding(), packed.head);
  copy_slot(layout.final_norm(), packed.final_norm);
}

}  // namespace krl::libtorch
