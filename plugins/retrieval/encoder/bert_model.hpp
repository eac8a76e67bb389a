// A BERT encoder (Devlin et al. 2018) in torch: token ids to a vector for each token, float32.
// Immutable after construction; thread-safe.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "plugins/policies/storage/safetensors.hpp"
#include "plugins/retrieval/encoder/bert_config.hpp"

namespace krl::retrieval {

// Texts packed one after the other, without padding.
struct TokenBatch {
  std::vector<std::int64_t> tokens;
  // Lengths of the texts; adjacent texts of equal length are computed as one.
  std::vector<std::int64_t> lengths;
};

class BertModel {
 public:
  // Copies the weights to the device. Understood are the names of Hugging Face's BertModel, with
  // or without "bert." before them, in F32, F16 or BF16. Throws krl::Failure
  // (KRL_INVALID_ARGUMENT) that names file and tensor if one is missing or has another shape.
  BertModel(const policies::Safetensors& file, const BertConfig& config, at::Device device);

  // The vectors of the last layer: all tokens of the batch × hidden, on the device.
  // REQUIRES: each length is from 1 to config.positions; each token is below config.vocabulary.
  at::Tensor forward(const TokenBatch& batch) const;

 private:
  struct Linear {
    at::Tensor weight, bias;  // `weight` in the layout of linear() (linear.hpp)
  };
  struct Norm {
    at::Tensor weight, bias;
  };
  struct Layer {
    Linear query_key_value, attention_output, intermediate, output;
    Norm attention_norm, output_norm;
  };

  at::Tensor embed(const TokenBatch& batch) const;
  at::Tensor attention(const Layer& layer, const at::Tensor& x, const TokenBatch& batch) const;
  at::Tensor normed(const Norm& norm, const at::Tensor& x) const;

  BertConfig config_;
  at::Device device_;
  at::Tensor tokens_, positions_;  // embeddings; positions have that of token type 0 added
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace krl::retrieval
