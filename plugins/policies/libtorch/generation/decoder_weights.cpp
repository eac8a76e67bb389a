#include "generation/decoder_weights.hpp"

namespace krl::libtorch {

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
    if (layout.config.qkv_bias()) copy_slot(layout.qkv_bias(i), layer.qkv_bias);
    if (layout.config.qk_norm()) {
      copy_slot(layout.query_norm(i), layer.query_norm);
      copy_slot(layout.key_norm(i), layer.key_norm);
    }
    pack_slot(layout.qkv(i), layer.qkv);
    pack_slot(layout.attention_out(i), layer.attention_out);
    pack_slot(layout.gate_up(i), layer.gate_up);
    pack_slot(layout.down(i), layer.down);
  }
  copy_slot(layout.embedding(), packed.embedding);
  pack_slot(layout.head(), packed.head);
  copy_slot(layout.final_norm(), packed.final_norm);
}

}  // namespace krl::libtorch
