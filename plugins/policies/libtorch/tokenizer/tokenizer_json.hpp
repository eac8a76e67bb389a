// The names that the engine still calls reading and writing a tokenizer by.
#pragma once

#include <string>

#include "tokenizer/byte_pair_encoding.hpp"

namespace krl::libtorch {

inline std::string tokenizer_to_json(const Tokenizer& tokenizer) { return tokenizer.json(); }

inline Tokenizer tokenizer_from_json(const std::string& text, const std::string& origin) {
  return Tokenizer::from_json(text, origin);
}

inline std::string tokenizer_config_json(std::int64_t context) {
  return scratch_tokenizer_config(context);
}

}  // namespace krl::libtorch
