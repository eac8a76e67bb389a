// The contents of the files of a BERT tokenizer, validated. The texts are not trusted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plugins/policies/tokenizer/tokenizer_definition.hpp"
#include "plugins/retrieval/wordpiece/normalisation.hpp"
#include "plugins/retrieval/wordpiece/wordpiece.hpp"

namespace krl::retrieval {

struct BertTokenizerDefinition {
  WordPiece::Vocabulary vocabulary;
  std::string prefix = "##";       // marks the continuation of a word
  std::size_t longest_word = 100;  // characters; longer ones are unknown
  TokenId unknown = 0;
  Normalisation normalisation;
  std::vector<policies::AddedToken> added;
  std::vector<TokenId> before, after;  // special tokens around a text
};

// Reads the formats of BertTokenizer::from_json and from_vocabulary.
BertTokenizerDefinition read_bert_tokenizer_json(const std::string& text,
                                                 const std::string& origin);
BertTokenizerDefinition read_bert_vocabulary(const std::string& text, const std::string& origin,
                                             const Normalisation& normalisation);

}  // namespace krl::retrieval
