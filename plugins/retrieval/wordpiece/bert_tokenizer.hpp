// The tokenizer of a BERT encoder: text to token ids, exactly those of the `tokenizers` library.
//
// A text is made valid UTF-8, cut at the names of special tokens ("[SEP]" in a text is that token,
// as in sentence-transformers), normalised, split into words and those into WordPieces. Immutable;
// copies share their contents. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"
#include "plugins/retrieval/wordpiece/normalisation.hpp"

namespace krl::retrieval {

using policies::TokenId;

class BertTokenizer {
 public:
  // Reads a `tokenizer.json`; `origin` is its name for messages. Supports model WordPiece,
  // normalizer BertNormalizer, pre-tokenizer BertPreTokenizer, behind it BertProcessing or
  // TemplateProcessing. The file's own truncation and padding are not used. Throws krl::Failure
  // (KRL_INVALID_ARGUMENT) that names file and key of anything else and of contradictions.
  static BertTokenizer from_json(const std::string& text, const std::string& origin);

  // The tokenizer of a `vocab.txt`, a token a line, with [UNK], [CLS] and [SEP] and, if they are
  // there, [PAD] and [MASK] as special tokens. Errors as from_json().
  static BertTokenizer from_vocabulary(const std::string& text, const std::string& origin,
                                       const Normalisation& normalisation);

  // The ids of a text between [CLS] and [SEP], at most `limit` in all; the text's end is cut off.
  // REQUIRES: `limit` is at least 2.
  std::vector<TokenId> encode(std::string_view text, std::size_t limit) const;

  // One more than the largest id.
  std::int64_t vocabulary() const;

  bool lower_case() const;

 private:
  struct State;
  explicit BertTokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace krl::retrieval
