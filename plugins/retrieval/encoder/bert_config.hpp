// The shape of a BERT encoder. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace krl::retrieval {

struct BertConfig {
  std::int64_t layers = 6;
  std::int64_t hidden = 384;
  std::int64_t heads = 12;           // divides `hidden`
  std::int64_t intermediate = 1536;  // width of the feed-forward layer
  std::int64_t positions = 512;      // the most tokens of a text
  std::int64_t token_types = 2;
  std::int64_t vocabulary = 30522;
  double norm_epsilon = 1e-12;
};

// Reads a Hugging Face `config.json` of model type "bert" with absolute positions and the
// activation "gelu". Throws krl::Failure (KRL_INVALID_ARGUMENT) that names file and key of a value
// that is missing, out of its range or not supported. The text is not trusted.
BertConfig read_bert_config(const std::string& text, const std::string& origin);

}  // namespace krl::retrieval
