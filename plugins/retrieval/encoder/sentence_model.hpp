// A folder with a text encoder in the layout of sentence-transformers: its weights, its tokenizer
// and how a text's vector is made from those of its tokens. Independent of torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "plugins/policies/storage/safetensors.hpp"
#include "plugins/retrieval/encoder/bert_config.hpp"
#include "plugins/retrieval/wordpiece/bert_tokenizer.hpp"

namespace krl::retrieval {

enum class Pooling {
  kMean,   // the mean of all tokens' vectors, [CLS] and [SEP] included
  kFirst,  // the vector of [CLS]
};

// Everything that the vectors of an encoder depend on.
struct SentenceModel {
  std::filesystem::path folder;
  BertConfig config;
  Pooling pooling = Pooling::kMean;
  bool normalised = false;     // vectors have length 1
  std::size_t max_tokens = 0;  // limit of a text with [CLS] and [SEP]; the rest is cut off
  std::string query_prompt, document_prompt;  // prefixes of queries and documents
  BertTokenizer tokenizer;
  policies::Safetensors weights;
  // SHA-256 of all of this but the folder's name: models with the same one give the same vectors.
  std::string fingerprint;
};

// Reads config.json, model.safetensors, tokenizer.json or else vocab.txt (with
// tokenizer_config.json) and, if they exist, modules.json with the pooling that it names,
// sentence_bert_config.json and config_sentence_transformers.json. Without modules.json vectors are
// means and not normalised, as in sentence-transformers. Throws krl::Failure: KRL_NOT_FOUND for a
// missing file, KRL_INVALID_ARGUMENT with file and key for anything that is not supported or
// contradicts itself. Nothing in the folder is trusted.
SentenceModel read_sentence_model(const std::filesystem::path& folder);

}  // namespace krl::retrieval
