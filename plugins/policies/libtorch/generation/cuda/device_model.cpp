#include "plugins/policies/libtorch/generation/cuda/device_model.hpp"

#include <kernelrl/values.hpp>

#include "plugins/policies/libtorch/model/rotary_table.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {
namespace {

Precision precision_of(const at::Tensor& weights) {
  const auto refuse = [](const std::string& why) {
    invalid_argument("generation on CUDA: the weights are " + why);
  };
  if (!weights.is_cuda()) refuse("not on a GPU");
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

DeviceModel::DeviceModel(const ModelConfig& its_config, const DecoderParameters& parameters)
    : config(its_config),
      precision(precision_of(parameters.embedding.value)),
      rotary(rotary_pairs(its_config, parameters.embedding.value.device())),
      embedding(parameters.embedding.value),
      head(parameters.head.value.t()),
      final_norm(parameters.final_norm.value) {
  for (const Block& block : parameters.blocks) {
    Layer layer{.attention_norm = block.attention_norm.value,
                .ffn_norm = block.ffn_norm.value,
                .qkv = block.qkv,
                .attention_out = block.attention_out,
                .gate_up = block.gate_up,
                .down = block.down,
                .heads = {nullptr, nullptr, nullptr, rotary.const_data_ptr<float>(),
                          static_cast<float>(config.norm_epsilon)}};
    if (config.qkv_bias()) layer.heads.bias = block.qkv_bias.value.data_ptr();
    if (config.qk_norm()) {
      layer.heads.query_gain = block.query_norm.value.data_ptr();
      layer.heads.key_gain = block.key_norm.value.data_ptr();
    }
    layers.push_back(std::move(layer));
  }
}

std::int64_t DeviceModel::narrowed_width() const {
  std::int64_t widest = 0;
  for (const Layer& layer : layers) {
    for (const Projection* projection :
         {&layer.qkv, &layer.attention_out, &layer.gate_up, &layer.down}) {
      if (!projection->adapters.empty()) widest = std::max(widest, projection->a.value.size(0));
    }
  }
  return widest;
}

}  // namespace krl::libtorch
