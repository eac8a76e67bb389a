// The tokenizer of a model from scratch: byte-level byte-pair encoding learned from the texts that
// the model is to produce. Texts are split only after each newline, so that a whole line of code
// may become one token. Ids: four special tokens, the 256 bytes, then one id per merge in the order
// of learning.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plugins/policies/tokenizer/chat_tokenizer.hpp"
#include "plugins/policies/tokenizer/merge_table.hpp"
#include "plugins/policies/tokenizer/tokenizer.hpp"

namespace krl::policies {

inline constexpr TokenId kPadToken = 0;
inline constexpr TokenId kBeginToken = 1;
inline constexpr TokenId kAnswerToken = 2;
inline constexpr TokenId kEndToken = 3;
inline constexpr std::string_view kSpecialTokens[] = {"<pad>", "<bos>", "<answer>", "<end>"};
inline constexpr TokenId kSpecialCount = 4;
inline constexpr TokenId kByteCount = 256;
inline constexpr TokenId kFirstMerge = kSpecialCount + kByteCount;

// Learns merges from `texts` until the vocabulary has `vocabulary` tokens or no pair occurs twice;
// a pair that spells an existing token is skipped, so no two tokens have the same bytes. Among
// equally frequent pairs the one with the smaller ids wins, so the result depends on the texts
// alone, not on their order. Merge k makes the id kFirstMerge + k. REQUIRES: vocabulary >=
// kFirstMerge.
std::vector<Merge> learn_merges(std::span<const std::string_view> texts, std::int64_t vocabulary);

// Returns the tokenizer with these merges. REQUIRES: merges as from learn_merges().
Tokenizer scratch_tokenizer(std::span<const Merge> merges);

// The tokenizer with the chat template of models from scratch, for a model that sees `context`
// tokens.
ChatTokenizer scratch_chat_tokenizer(Tokenizer tokenizer, std::int64_t context);

}  // namespace krl::policies
