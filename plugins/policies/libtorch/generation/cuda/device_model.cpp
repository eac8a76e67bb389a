#include "generation/cuda/device_model.hpp"

#include <kernelrl/values.hpp>

#include "model/rotary_table.hpp"
#include "torch.hpp"

namespace krl::libtorch {
namespace {

Precision precision_of(const ParameterLayout& layout, const at::Tensor& weights) {
  const auto refuse = [](const std::string& why) {
    invalid_argument("generation on CUDA: the weights are " + why);
  };
  if (!weights.is_cuda()) refuse("not on a GPU");
  if (weights.dim() != 1 || weights.numel() != layout.total || !weights.is_contiguous()) {
    refuse("not the flat array of the model's parameters");
  }
  constexpr std::uintptr_t kAccessBytes = 16;
  if (reinterpret_cast<std::uintptr_t>(weights.data_ptr()) % kAccessBytes != 0) {
    refuse("not at a multiple of 16 bytes");
  }
  if (weights.scalar_type() == at::kBFloat16) return Precision::kBFloat16;
  if (weights.scalar_type() != at::kFloat) refuse("neither bfloat16 nor float32");
  return Precision::kFloat32;
}

at::Tensor rotary_pairs(const ModelConfig& config, const at::Device& device) {
  const RotaryTable table = rotary_table(config);
  const auto tensor = [&](const std::vector<float>& values) {
    return at::tensor(values).view({config.context, config.head_size() / 2});
  };
  return at::stack({tensor(table.cosine), tensor(table.sine)}, 2).to(device);
}

}  // namespace

DeviceModel::DeviceModel(const ParameterLayout& layout, const at::Tensor& weights)
    : config(layout.config), precision(precision_of(layout, weights)), flat(weights.detach()) {
  rotary = rotary_pairs(config, flat.device());
  const auto view = [&](std::size_t slot) {
    const ParameterSlot& parameter = layout.slots[slot];
    return flat.narrow(0, parameter.offset, parameter.size).view(parameter.shape);
  };
  embedding = view(layout.embedding());
  head = view(layout.head()).t();
  final_norm = view(layout.final_norm());
  for (std::int64_t i = 0; i < config.layers; ++i) {
    Layer layer;
    layer.attention_norm = view(layout.attention_norm(i));
    layer.ffn_norm = view(layout.ffn_norm(i));
    layer.qkv = view(layout.qkv(i)).t();
    layer.attention_out = view(layout.attention_out(i)).t();
    layer.gate_up = view(layout.gate_up(i)).t();
    layer.down = view(layout.down(i)).t();
    layer.heads = {nullptr, nullptr, nullptr, rotary.const_data_ptr<float>(),
                   static_cast<float>(config.norm_epsilon)};
    if (config.qkv_bias()) layer.heads.bias = view(layout.qkv_bias(i)).data_ptr();
    if (config.qk_norm()) {
      layer.heads.query_gain = view(layout.query_norm(i)).data_ptr();
      layer.heads.key_gain = view(layout.key_norm(i)).data_ptr();
    }
    layers.push_back(layer);
  }
}

}  // namespace krl::libtorch
