// The names that the engine still calls the tokenizer of a model from scratch by.
#pragma once

#include "tokenizer/scratch_tokenizer.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/utf8.hpp"

namespace krl::libtorch {

using BytePairEncoding = Tokenizer;

inline Tokenizer train_byte_pair_encoding(std::span<const std::string_view> texts,
                                          std::int64_t vocabulary) {
  return scratch_tokenizer(learn_merges(texts, vocabulary));
}

}  // namespace krl::libtorch
