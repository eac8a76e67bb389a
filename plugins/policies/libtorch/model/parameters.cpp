#include "plugins/policies/libtorch/model/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "plugins/policies/libtorch/base/random_stream.hpp"

namespace krl::libtorch {

ParameterLayout::ParameterLayout(const ModelConfig& model) : config(model) {
  const auto add = [this](std::string name, std::vector<std::int64_t> shape, double deviation,
                          float start = 0) {
    std::int64_t size = 1;
    for (const std::int64_t dimension : shape) size *= dimension;
    slots.push_back({std::move(name), std::move(shape), total, size, deviation, start});
    total += size;
  };
  const auto add_gain = [&](std::string name, std::int64_t size) {
    add(std::move(name), {size}, 0, 1);
  };
  const auto layer_name = [](std::int64_t layer, const char* part) {
    return "layers." + std::to_string(layer) + "." + part;
  };
  // Variance 1 / inputs keeps activations at 1; matrices whose output is added to the residual
  // stream 2 · layers times are scaled down so that the stream stays there too (GPT-2).
  const double wide = 1 / std::sqrt(static_cast<double>(config.hidden));
  const double residual = 1 / std::sqrt(2.0 * static_cast<double>(config.layers));
  const double deep = 1 / std::sqrt(static_cast<double>(config.ffn));
  constexpr double kEmbeddingDeviation = 0.02;
  add("embedding.weight", {config.vocabulary, config.hidden}, kEmbeddingDeviation);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    add(layer_name(layer, "attention.qkv.weight"), {config.qkv_width(), config.hidden}, wide);
    add(layer_name(layer, "attention.out.weight"), {config.hidden, config.attention_width()},
        wide * residual);
    add(layer_name(layer, "ffn.gate_up.weight"), {2 * config.ffn, config.hidden}, wide);
    add(layer_name(layer, "ffn.down.weight"), {config.hidden, config.ffn}, deep * residual);
  }
  if (!config.tied) add("head.weight", {config.vocabulary, config.hidden}, kEmbeddingDeviation);
  matrices_end = total;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    add_gain(layer_name(layer, "attention.norm.weight"), config.hidden);
    add_gain(layer_name(layer, "ffn.norm.weight"), config.hidden);
    if (config.qkv_bias()) add(layer_name(layer, "attention.qkv.bias"), {config.qkv_width()}, 0);
    if (!config.qk_norm()) continue;
    add_gain(layer_name(layer, "attention.query_norm.weight"), config.head_size());
    add_gain(layer_name(layer, "attention.key_norm.weight"), config.head_size());
  }
  add_gain("norm.weight", config.hidden);
}

std::vector<float> initial_weights(const ParameterLayout& layout, std::uint64_t seed) {
  std::vector<float> weights(static_cast<std::size_t>(layout.total));
  for (std::size_t slot = 0; slot < layout.slots.size(); ++slot) {
    const ParameterSlot& parameter = layout.slots[slot];
    float* values = weights.data() + parameter.offset;
    if (parameter.deviation == 0) {
      std::fill_n(values, parameter.size, parameter.start);
      continue;
    }
    for (std::int64_t i = 0; i < parameter.size; ++i) {  // Box and Muller 1958
      const auto draw = static_cast<std::uint64_t>(2 * i);
      const double radius = std::sqrt(-2 * std::log(uniform(seed, slot, draw)));
      const double angle = 2 * std::numbers::pi * uniform(seed, slot, draw + 1);
      values[i] = static_cast<float>(parameter.deviation * radius * std::cos(angle));
    }
  }
  return weights;
}

}  // namespace krl::libtorch
