// Byte-level byte-pair encoding: text to token ids and back, for any bytes, valid UTF-8 or not.
//
// A text is first cut after each newline; inside a piece, the neighbouring tokens whose merge was
// learned first are joined until no learned merge is left (Sennrich et al. 2016, on bytes as in
// GPT-2). Ids: the special tokens, then the 256 bytes, then one id a merge in the order of
// learning. Immutable once made, hence thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tokenizer/merge_table.hpp"
#include "tokenizer/utf8.hpp"

namespace krl::libtorch {

// Tokens that no text encodes to: they mark the parts of a conversation (see chat_format.hpp).
inline constexpr TokenId kPadToken = 0;
inline constexpr TokenId kBeginToken = 1;
inline constexpr TokenId kAnswerToken = 2;
inline constexpr TokenId kEndToken = 3;
inline constexpr std::string_view kSpecialTokens[] = {"<pad>", "<bos>", "<answer>", "<end>"};
inline constexpr TokenId kSpecialCount = 4;
inline constexpr TokenId kByteCount = 256;
inline constexpr TokenId kFirstMerge = kSpecialCount + kByteCount;

class BytePairEncoding {
 public:
  using Merge = std::pair<TokenId, TokenId>;

  // The encoding with these merges, in the order of their ranks. REQUIRES: merge k joins ids below
  // kFirstMerge + k, none of them special, and no two tokens spell the same bytes.
  explicit BytePairEncoding(std::vector<Merge> merges);

  // Takes O(n log n) steps for a piece of n bytes.
  std::vector<TokenId> encode(std::string_view text) const;

  // The bytes of the tokens. Special tokens and ids outside the vocabulary give nothing.
  std::string decode(std::span<const TokenId> tokens) const;

  // The bytes of one token; empty for special ones.
  const std::string& bytes(TokenId token) const { return bytes_[static_cast<std::size_t>(token)]; }

  std::int64_t vocabulary() const { return static_cast<std::int64_t>(bytes_.size()); }
  const std::vector<Merge>& merges() const { return merges_; }

 private:
  void encode_piece(std::string_view piece, std::vector<TokenId>& out) const;
  // The id of the joined token, which is also the merge's rank plus kFirstMerge.
  std::optional<TokenId> joined(TokenId left, TokenId right) const;

  std::vector<Merge> merges_;
  std::unordered_map<std::uint64_t, TokenId> ids_;
  std::vector<std::string> bytes_;
};

// Calls `visit` with each piece of `text`: up to and including a newline, or the rest.
template <class Visit>
void for_each_piece(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    visit(text.substr(0, size));
    text.remove_prefix(size);
  }
}

// Learns merges from `texts` until the vocabulary has `vocabulary` tokens or no pair occurs twice;
// a pair that spells a token which is there already is passed over, so no two tokens have the same
// bytes.
// Of equally frequent pairs the one with the smaller ids wins, so the result depends on the texts
// alone, not on their order. REQUIRES: vocabulary >= kFirstMerge.
BytePairEncoding train_byte_pair_encoding(std::span<const std::string_view> texts,
                                          std::int64_t vocabulary);

}  // namespace krl::libtorch
