// A byte-level byte-pair tokenizer as defined by Hugging Face's `tokenizer.json`: converts text to
// token ids and back, with exactly the ids of the `tokenizers` library.
//
// A text is made valid UTF-8, cut at added tokens, normalised if the file requires it, split by
// patterns, and the bytes of each piece are joined by the learned merges (Sennrich et al. 2016, on
// bytes as in GPT-2). Immutable; copies share their contents. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"

namespace krl::policies {

// The treatment of names of special tokens ("<|im_end|>") inside a text.
enum class SpecialNames {
  kText,    // text like any other: a message, or a kernel in it, never becomes control
  kTokens,  // become those tokens: for texts that a chat template has rendered
};

class Tokenizer {
 public:
  // Reads a `tokenizer.json`; `origin` is its name for messages. Throws krl::Failure
  // (KRL_INVALID_ARGUMENT) that names unsupported parts (tokenizer_definition.hpp).
  static Tokenizer from_json(std::string json, const std::string& origin);

  // Returns the ids of a text: with kTokens those of the library's encode(), with kText those of
  // its encode() after encode_special_tokens = True; added tokens that are not special are found in
  // either. Takes O(n log n) steps. Throws krl::Failure (KRL_INVALID_ARGUMENT) if a pattern of the
  // file gives up on the text.
  std::vector<TokenId> encode(std::string_view text,
                              SpecialNames names = SpecialNames::kText) const;

  // The ids with the special tokens that the file puts around a text (add_special_tokens = True):
  // of these families only Llama 3 has one, at the beginning.
  std::vector<TokenId> with_special_tokens(std::vector<TokenId> tokens) const;

  // The bytes of the tokens, which need not be valid UTF-8. Special tokens and ids outside the
  // vocabulary give nothing.
  std::string decode(std::span<const TokenId> tokens) const;

  // The bytes of one token; empty for special ones and ids outside the vocabulary.
  const std::string& bytes(TokenId token) const;

  // One more than the largest id. A model may have more rows.
  std::int64_t vocabulary() const;

  // The merges in the order of their ranks.
  std::span<const Merge> merges() const;

  // The id of a token that the file adds to the vocabulary by name, as all special ones are.
  struct NamedToken {
    TokenId id;
    bool special;
  };
  std::optional<NamedToken> find(std::string_view name) const;

  // The `tokenizer.json` that this was made from, byte for byte.
  const std::string& json() const;

 private:
  struct State;
  explicit Tokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace krl::policies
