#include "plugins/policies/libtorch/generation/decoder_weights.hpp"

namespace krl::libtorch {
namespace {

PackedProjection& projection_of(const LoraPair& pair, DecoderWeights& packed) {
  DecoderWeights::Layer& layer = packed.layers[static_cast<std::size_t>(pair.layer)];
  switch (pair.matrix) {
    case FusedMatrix::kQkv:
      return layer.qkv;
    case FusedMatrix::kAttentionOut:
      return layer.attention_out;
    case FusedMatrix::kGateUp:
      return layer.gate_up;
    case FusedMatrix::kDown:
      break;
  }
  return layer.down;
}

// The adapters of one matrix.
void pack_pairs(const LoraLayout& lora, std::span<const LoraPair> pairs, const float* adapters,
                PackedProjection& to) {
  const std::int64_t rank = lora.options.rank, width = rank * std::ssize(pairs);
  const std::int64_t outputs = to.weight.outputs, inputs = to.weight.inputs;
  // The A are one after the other.
  pack(adapters + lora.slots[pairs.front().a].offset, width, inputs, to.narrow);
  std::vector<float> widen(static_cast<std::size_t>(outputs * width));
  const auto scale = static_cast<float>(lora.options.scale());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const float* b = adapters + lora.slots[pairs[i].b].offset;
    for (std::int64_t row = 0; row < pairs[i].rows; ++row) {
      float* at =
          widen.data() + (pairs[i].first_row + row) * width + static_cast<std::int64_t>(i) * rank;
      for (std::int64_t r = 0; r < rank; ++r) at[r] = scale * b[row * rank + r];
    }
  }
  pack(widen.data(), outputs, width, to.widen);
}

}  // namespace

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
    pack_slot(layout.qkv(i), layer.qkv.weight);
    pack_slot(layout.attention_out(i), layer.attention_out.weight);
    pack_slot(layout.gate_up(i), layer.gate_up.weight);
    pack_slot(layout.down(i), layer.down.weight);
  }
  copy_slot(layout.embedding(), packed.embedding);
  pack_slot(layout.head(), packed.head);
  copy_slot(layout.final_norm(), packed.final_norm);
}

void pack_adapters(const LoraLayout& lora, std::span<const float> adapters,
                   DecoderWeights& packed) {
  const std::span<const LoraPair> all = lora.pairs;
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    const auto of_the_same = [&](const LoraPair& pair) {
      return pair.layer == all[first].layer && pair.matrix == all[first].matrix;
    };
    while (end < all.size() && of_the_same(all[end])) ++end;
    pack_pairs(lora, all.subspan(first, end - first), adapters.data(),
               projection_of(all[first], packed));
  }
}

}  // namespace krl::libtorch
