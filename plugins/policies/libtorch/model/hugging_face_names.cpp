#include "plugins/policies/libtorch/model/hugging_face_names.hpp"

namespace krl::libtorch {
namespace {

class Names {
 public:
  explicit Names(const ParameterLayout& layout) : layout_(layout) {}

  void add(std::string name, std::size_t slot, std::int64_t first, std::int64_t rows) {
    const ParameterSlot& parameter = layout_.slots[slot];
    const std::int64_t width = parameter.size / parameter.shape[0];
    std::vector<std::int64_t> shape = parameter.shape;
    shape[0] = rows;
    names_.push_back(
        {std::move(name), std::move(shape), parameter.offset + first * width, rows * width});
  }
  void add(std::string name, std::size_t slot) {
    add(std::move(name), slot, 0, layout_.slots[slot].shape[0]);
  }

  // The three parts of a fused matrix or bias of queries, keys and values.
  void add_qkv(const std::string& prefix, const std::string& suffix, std::size_t slot) {
    const std::int64_t queries = layout_.config.attention_width(), keys = layout_.config.kv_width();
    add(prefix + "self_attn.q_proj." + suffix, slot, 0, queries);
    add(prefix + "self_attn.k_proj." + suffix, slot, queries, keys);
    add(prefix + "self_attn.v_proj." + suffix, slot, queries + keys, keys);
  }

  void add_layer(std::int64_t layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const std::int64_t ffn = layout_.config.ffn;
    add_qkv(prefix, "weight", layout_.qkv(layer));
    if (layout_.config.qkv_bias()) add_qkv(prefix, "bias", layout_.qkv_bias(layer));
    if (layout_.config.qk_norm()) {
      add(prefix + "self_attn.q_norm.weight", layout_.query_norm(layer));
      add(prefix + "self_attn.k_norm.weight", layout_.key_norm(layer));
    }
    add(prefix + "self_attn.o_proj.weight", layout_.attention_out(layer));
    add(prefix + "mlp.gate_proj.weight", layout_.gate_up(layer), 0, ffn);
    add(prefix + "mlp.up_proj.weight", layout_.gate_up(layer), ffn, ffn);
    add(prefix + "mlp.down_proj.weight", layout_.down(layer));
    add(prefix + "input_layernorm.weight", layout_.attention_norm(layer));
    add(prefix + "post_attention_layernorm.weight", layout_.ffn_norm(layer));
  }

  std::vector<NamedRows> take() { return std::move(names_); }

 private:
  const ParameterLayout& layout_;
  std::vector<NamedRows> names_;
};

}  // namespace

std::vector<NamedRows> hugging_face_names(const ParameterLayout& layout) {
  Names names(layout);
  names.add("model.embed_tokens.weight", layout.embedding());
  for (std::int64_t layer = 0; layer < layout.config.layers; ++layer) names.add_layer(layer);
  names.add("model.norm.weight", layout.final_norm());
  if (!layout.config.tied) names.add("lm_head.weight", layout.head());
  return names.take();
}

}  // namespace krl::libtorch
