// A byte-pair encoding as a Hugging Face `tokenizer.json`, and back.
#pragma once

#include <string>

#include "tokenizer/byte_pair_encoding.hpp"

namespace krl::libtorch {

// The document; the `tokenizers` library encodes text with it to the same ids, except that it reads
// the names of special tokens inside a text as those tokens.
std::string tokenizer_to_json(const BytePairEncoding& encoding);

// The encoding of a document that tokenizer_to_json() wrote. Anything that it would not write (a
// normaliser, another pre-tokeniser, other special tokens, a vocabulary that does not follow from
// the merges) throws krl::Failure (KRL_INVALID_ARGUMENT) that names it; nothing is approximated.
// `origin` says in the message where the text came from.
BytePairEncoding tokenizer_from_json(const std::string& text, const std::string& origin);

// `tokenizer_config.json` to go with it: special tokens and the chat template of chat_format.hpp.
std::string tokenizer_config_json(std::int64_t context);

}  // namespace krl::libtorch
