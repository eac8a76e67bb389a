// The contents of a Hugging Face `tokenizer.json` for a byte-level byte-pair encoding, validated.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"

namespace krl::policies {

// A larger id is refused: it is 6 times the largest one of these families.
inline constexpr TokenId kLargestId = (1 << 20) - 1;

// A token that is found in a text as it is written, before the text is split.
struct AddedToken {
  TokenId id;
  std::string content;  // not empty
  bool special;         // a control token: no text of a message produces it
};

struct TokenizerDefinition {
  std::vector<std::string> bytes;  // bytes of each id; empty where there is no token
  std::unordered_map<std::string, TokenId> pieces;  // bytes -> id, for ids that texts can produce
  std::array<TokenId, 256> byte_tokens;             // -1: no token, the byte is left out
  std::vector<Merge> merges;                        // in the order of their ranks
  bool whole_pieces = false;                        // a piece that is a token needs no merges
  bool nfc = false;                                 // texts are brought to normal form C first
  // Patterns of SplitPattern, each splits the rest of the one before.
  std::vector<std::string> splits;
  std::vector<AddedToken> added;
  std::vector<TokenId> prefix, suffix;  // special tokens around a text
};

// Reads `text`, from a file called `origin`. Understood are the tokenizers of the GPT-2, Llama 3,
// Qwen2, Qwen3 and SmolLM2 kinds: model BPE without dropout, unknown token or byte fallback; the
// pre-tokenizer ByteLevel, alone or after Split (by a regular expression, isolated) and Digits; no
// normalizer or NFC; added tokens without lstrip, rstrip and single_word; ByteLevel and
// TemplateProcessing behind it. Throws krl::Failure (KRL_INVALID_ARGUMENT) that names file and key
// of anything else and of anything that contradicts itself. The text is not trusted.
TokenizerDefinition read_tokenizer_json(const std::string& text, const std::string& origin);

}  // namespace krl::policies
