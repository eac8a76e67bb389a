#include "plugins/retrieval/encoder/bert_model.hpp"

#include <kernelrl/values.hpp>
#include <string>

#include "plugins/retrieval/encoder/linear.hpp"

namespace krl::retrieval {
namespace {

// Reads tensors of a file to a device, as float32.
class WeightReader {
 public:
  WeightReader(const policies::Safetensors& file, at::Device device)
      : file_(file), device_(device) {
    if (file.tensors().contains("bert.embeddings.word_embeddings.weight")) prefix_ = "bert.";
  }

  at::Tensor get(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const std::string full = prefix_ + name;
    const auto found = file_.tensors().find(full);
    const std::string type = found == file_.tensors().end() ? "F32" : found->second.type;
    const at::ScalarType stored = type == "F16"    ? at::kHalf
                                  : type == "BF16" ? at::kBFloat16
                                                   : at::kFloat;
    // Refuses every other type.
    const auto& view = file_.get(full, stored == at::kFloat ? "F32" : type, shape);
    const at::Tensor borrowed =
        at::from_blob(const_cast<char*>(view.bytes.data()), shape, at::dtype(stored));
    return borrowed.to(device_, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  }

 private:
  const policies::Safetensors& file_;
  const at::Device device_;
  std::string prefix_;
};

}  // namespace

BertModel::BertModel(const policies::Safetensors& file, const BertConfig& config, at::Device device)
    : config_(config), device_(device) {
  const WeightReader weights(file, device);
  const std::int64_t hidden = config.hidden;
  const auto linear_at = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    return Linear{weights.get(name + ".weight", {out, in}), weights.get(name + ".bias", {out})};
  };
  const auto norm_at = [&](const std::string& name) {
    return Norm{weights.get(name + ".LayerNorm.weight", {hidden}),
                weights.get(name + ".LayerNorm.bias", {hidden})};
  };
  tokens_ = weights.get("embeddings.word_embeddings.weight", {config.vocabulary, hidden});
  positions_ =
      weights.get("embeddings.position_embeddings.weight", {config.positions, hidden}) +
      weights.get("embeddings.token_type_embeddings.weight", {config.token_types, hidden})[0];
  embedding_norm_ = norm_at("embeddings");
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string name = "encoder.layer." + std::to_string(i) + ".";
    const Linear query = linear_at(name + "attention.self.query", hidden, hidden),
                 key = linear_at(name + "attention.self.key", hidden, hidden),
                 value = linear_at(name + "attention.self.value", hidden, hidden);
    Layer layer{{at::cat({query.weight, key.weight, value.weight}),
                 at::cat({query.bias, key.bias, value.bias})},
                linear_at(name + "attention.output.dense", hidden, hidden),
                linear_at(name + "intermediate.dense", hidden, config.intermediate),
                linear_at(name + "output.dense", config.intermediate, hidden),
                norm_at(name + "attention.output"),
                norm_at(name + "output")};
    for (Linear* each :
         {&layer.query_key_value, &layer.attention_output, &layer.intermediate, &layer.output}) {
      each->weight = arranged_weight(each->weight);
    }
    layers_.push_back(std::move(layer));
  }
}

at::Tensor BertModel::forward(const TokenBatch& batch) const {
  at::Tensor x = embed(batch);
  for (const Layer& layer : layers_) {
    const at::Tensor attended = attention(layer, x, batch);
    x = normed(layer.attention_norm, x + attended);
    const at::Tensor inner =
        linear(x, layer.intermediate.weight, layer.intermediate.bias, Activation::kGelu);
    x = normed(layer.output_norm, x + linear(inner, layer.output.weight, layer.output.bias));
  }
  return x;
}

at::Tensor BertModel::embed(const TokenBatch& batch) const {
  const auto index = at::dtype(at::kLong);
  std::vector<std::int64_t> places;
  places.reserve(batch.tokens.size());
  for (const std::int64_t length : batch.lengths) {
    for (std::int64_t i = 0; i < length; ++i) places.push_back(i);
  }
  const auto on_device = [&](const std::vector<std::int64_t>& ids) {
    const auto size = static_cast<std::int64_t>(ids.size());
    return at::from_blob(const_cast<std::int64_t*>(ids.data()), {size}, index).to(device_);
  };
  const at::Tensor x = at::embedding(tokens_, on_device(batch.tokens)) +
                       at::embedding(positions_, on_device(places));
  return normed(embedding_norm_, x);
}

at::Tensor BertModel::attention(const Layer& layer, const at::Tensor& x,
                                const TokenBatch& batch) const {
  const std::int64_t width = config_.hidden / config_.heads;
  const at::Tensor joint = linear(x, layer.query_key_value.weight, layer.query_key_value.bias);
  at::Tensor all = at::empty_like(x);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < batch.lengths.size();) {
    const std::int64_t length = batch.lengths[i];
    std::int64_t texts = 0;
    for (; i < batch.lengths.size() && batch.lengths[i] == length; ++i) ++texts;
    const std::int64_t end = begin + texts * length;
    // 3 × texts × heads × length × width
    const at::Tensor parts = joint.slice(0, begin, end)
                                 .view({texts, length, 3, config_.heads, width})
                                 .permute({2, 0, 3, 1, 4});
    const at::Tensor attended = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    all.slice(0, begin, end)
        .view({texts, length, config_.heads, width})
        .copy_(attended.transpose(1, 2));
    begin = end;
  }
  return linear(all, layer.attention_output.weight, layer.attention_output.bias);
}

at::Tensor BertModel::normed(const Norm& norm, const at::Tensor& x) const {
  return at::layer_norm(x, {config_.hidden}, norm.weight, norm.bias, config_.norm_epsilon);
}

}  // namespace krl::retrieval
