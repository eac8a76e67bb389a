#include "plugins/retrieval/encoder/bert_config.hpp"

#include "plugins/policies/tokenizer/json_node.hpp"

namespace krl::retrieval {
namespace {

using policies::JsonNode;

constexpr std::int64_t kMostLayers = 1000;
constexpr std::int64_t kMostRows = 1 << 24;  // rows of any matrix

std::int64_t size_at(const JsonNode& root, const char* key, std::int64_t limit = kMostRows) {
  const JsonNode node = root.get(key);
  const std::int64_t size = node.integer(limit);
  if (size == 0) node.refuse("must not be 0");
  return size;
}

void expect_text(const JsonNode& root, const char* key, const std::string& only) {
  const auto node = root.find(key);
  if (node && node->text() != only) {
    node->refuse("'" + node->text() + "' is not supported, only " + only);
  }
}

}  // namespace

BertConfig read_bert_config(const std::string& text, const std::string& origin) {
  const nlohmann::json document = policies::parse_json(text, origin);
  const JsonNode root(document, origin);
  root.get("model_type");
  expect_text(root, "model_type", "bert");
  expect_text(root, "hidden_act", "gelu");
  expect_text(root, "position_embedding_type", "absolute");
  BertConfig config;
  config.layers = size_at(root, "num_hidden_layers", kMostLayers);
  config.hidden = size_at(root, "hidden_size");
  config.heads = size_at(root, "num_attention_heads");
  config.intermediate = size_at(root, "intermediate_size");
  config.positions = size_at(root, "max_position_embeddings");
  config.token_types = size_at(root, "type_vocab_size");
  config.vocabulary = size_at(root, "vocab_size");
  if (const auto epsilon = root.find("layer_norm_eps")) config.norm_epsilon = epsilon->number();
  if (config.hidden % config.heads != 0) {
    root.get("num_attention_heads").refuse("must divide hidden_size");
  }
  return config;
}

}  // namespace krl::retrieval
