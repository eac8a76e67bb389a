#include "plugins/policies/libtorch/generation/decoder.hpp"

#include <algorithm>
#include <cmath>

namespace krl::libtorch {
namespace {

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace

KeyValueCache::KeyValueCache(const ModelConfig& config, std::int64_t capacity)
    : heads_(config.kv_heads),
      head_size_(config.head_size()),
      capacity_((capacity + AttentionSpan::kPositions - 1) / AttentionSpan::kPositions *
                AttentionSpan::kPositions),
      keys_(size(config.layers * heads_ * head_size_ * capacity_)),
      values_(keys_.size()) {}

std::int64_t KeyValueCache::offset(std::int64_t layer, std::int64_t head) const {
  return (layer * heads_ + head) * head_size_ * capacity_;
}

AttentionSpan KeyValueCache::span(std::int64_t layer, std::int64_t head,
                                  std::int64_t length) const {
  const std::int64_t at = offset(layer, head);
  return {keys_.data() + at, values_.data() + at, length, capacity_};
}

void KeyValueCache::put(std::int64_t layer, std::int64_t position, const float* keys,
                        const float* values) {
  for (std::int64_t head = 0; head < heads_; ++head) {
    float* to_keys = keys_.data() + offset(layer, head) + position;
    float* to_values = values_.data() + offset(layer, head) + position * head_size_;
    for (std::int64_t i = 0; i < head_size_; ++i) {
      to_keys[i * capacity_] = keys[head * head_size_ + i];
      to_values[i] = values[head * head_size_ + i];
    }
  }
}

Decoder::Decoder(const DecoderWeights& weights)
    : weights_(weights), kernels_(kernels()), rotary_(rotary_table(weights.config)) {
  const ModelConfig& config = weights.config;
  x_.resize(size(kRows * config.hidden));
  normed_.resize(x_.size());
  attended_.resize(size(kRows * config.attention_width()));
  qkv_.resize(size(kRows * config.qkv_width()));
  gate_up_.resize(size(kRows * 2 * config.ffn));
  gated_.resize(size(kRows * config.ffn));
  scores_.resize(size(config.context + 2 * AttentionSpan::kPositions));
  logits_.resize(size(kRows * config.vocabulary));
}

std::span<const float> Decoder::run(std::span<const DecoderRow> rows, std::int64_t n) {
  const ModelConfig& config = weights_.config;
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto scale = static_cast<float>(config.embedding_scale);
  for (std::int64_t row = 0; row < count; ++row) {
    const float* embedding = weights_.embedding.data() + rows[size(row)].token * config.hidden;
    float* x = x_.data() + row * config.hidden;
    for (std::int64_t i = 0; i < config.hidden; ++i) x[i] = embedding[i] * scale;
  }
  const auto epsilon = static_cast<float>(config.norm_epsilon);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const auto& weights = weights_.layers[size(layer)];
    kernels_.rms_norm(x_.data(), count, config.hidden, weights.attention_norm.data(), epsilon,
                      normed_.data());
    project(normed_.data(), count, weights.qkv, qkv_.data(), Store::kSet);
    attention(rows, layer);
    project(attended_.data(), count, weights.attention_out, x_.data(), Store::kAdd);
    feed_forward(count, weights);
  }
  kernels_.rms_norm(x_.data() + (count - n) * config.hidden, n, config.hidden,
                    weights_.final_norm.data(), epsilon, normed_.data());
  kernels_.multiply(normed_.data(), n, weights_.head, logits_.data(), Store::kSet);
  return {logits_.data(), size(n * config.vocabulary)};
}

void Decoder::attention(std::span<const DecoderRow> rows, std::int64_t layer) {
  const ModelConfig& config = weights_.config;
  const std::int64_t head_size = config.head_size(), group = config.heads / config.kv_heads;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const DecoderRow& row = rows[r];
    float* queries = qkv_.data() + static_cast<std::int64_t>(r) * config.qkv_width();
    prepare_heads(queries, row.position, weights_.layers[size(layer)]);
    const float* keys = queries + config.attention_width();
    row.own->put(layer, row.index, keys, keys + config.kv_width());
    float* out = attended_.data() + static_cast<std::int64_t>(r) * config.attention_width();
    for (std::int64_t head = 0; head < config.heads; ++head) {
      const std::int64_t kv_head = head / group;
      const AttentionSpan own = row.own->span(layer, kv_head, row.index + 1);
      const AttentionSpan shared = row.shared != nullptr
                                       ? row.shared->span(layer, kv_head, row.shared_length)
                                       : AttentionSpan{nullptr, nullptr, 0, 0};
      kernels_.attend(queries + head * head_size, head_size, shared, own, scores_.data(),
                      out + head * head_size);
    }
  }
}

// Bias, norm and rotation of the heads of one row, [qkv_width], in place.
void Decoder::prepare_heads(float* qkv, std::int64_t position, const DecoderWeights::Layer& layer) {
  const ModelConfig& config = weights_.config;
  const std::int64_t head_size = config.head_size();
  for (std::size_t i = 0; i < layer.qkv_bias.size(); ++i) qkv[i] += layer.qkv_bias[i];
  if (config.qk_norm()) {
    const auto epsilon = static_cast<float>(config.norm_epsilon);
    float* keys = qkv + config.attention_width();
    kernels_.rms_norm(qkv, config.heads, head_size, layer.query_norm.data(), epsilon, qkv);
    kernels_.rms_norm(keys, config.kv_heads, head_size, layer.key_norm.data(), epsilon, keys);
  }
  for (std::int64_t head = 0; head < config.heads + config.kv_heads; ++head) {
    rotate(qkv + head * head_size, position);
  }
}

void Decoder::feed_forward(std::int64_t rows, const DecoderWeights::Layer& layer) {
  const ModelConfig& config = weights_.config;
  kernels_.rms_norm(x_.data(), rows, config.hidden, layer.ffn_norm.data(),
                    static_cast<float>(config.norm_epsilon), normed_.data());
  project(normed_.data(), rows, layer.gate_up, gate_up_.data(), Store::kSet);
  kernels_.swiglu(gate_up_.data(), rows, config.ffn, gated_.data());
  project(gated_.data(), rows, layer.down, x_.data(), Store::kAdd);
}

void Decoder::project(const float* in, std::int64_t rows, const PackedProjection& projection,
                      float* out, Store store) {
  kernels_.multiply(in, rows, projection.weight, out, store);
  const std::int64_t width = projection.narrow.outputs;
  if (width == 0) return;
  narrowed_.resize(std::max(narrowed_.size(), size(kRows * width)));
  kernels_.multiply(in, rows, projection.narrow, narrowed_.data(), Store::kSet);
  kernels_.multiply(narrowed_.data(), rows, projection.widen, out, Store::kAdd);
}

// Turns the pairs (i, i + half) of a head, the layout of Hugging Face's Llama.
void Decoder::rotate(float* head, std::int64_t position) const {
  const std::int64_t half = weights_.config.head_size() / 2;
  const float* cosine = rotary_.cosine.data() + position * half;
  const float* sine = rotary_.sine.data() + position * half;
  for (std::int64_t i = 0; i < half; ++i) {
    const float a = head[i], b = head[i + half];
    head[i] = a * cosine[i] - b * sine[i];
    head[i + half] = b * cosine[i] + a * sine[i];
  }
}

}  // namespace krl::libtorch
