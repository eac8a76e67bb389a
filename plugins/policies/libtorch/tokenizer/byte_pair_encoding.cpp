#include "tokenizer/byte_pair_encoding.hpp"

#include <queue>
#include <tuple>

namespace krl::libtorch {
namespace {

std::uint64_t pair_key(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
         static_cast<std::uint32_t>(right);
}

// A token of a piece that is being merged, in a doubly linked list of positions.
struct Node {
  TokenId token;
  std::int32_t previous, next;  // -1 = none
};
constexpr TokenId kMergedAway = -1;

// A merge that was possible when it was queued: the learned order decides, then the position.
struct Candidate {
  TokenId joined;
  std::int32_t position;
  TokenId left, right;
  bool operator>(const Candidate& other) const {
    return std::tie(joined, position) > std::tie(other.joined, other.position);
  }
};

}  // namespace

BytePairEncoding::BytePairEncoding(std::vector<Merge> merges) : merges_(std::move(merges)) {
  bytes_.resize(kFirstMerge + merges_.size());
  for (TokenId byte = 0; byte < kByteCount; ++byte) {
    bytes_[static_cast<std::size_t>(kSpecialCount + byte)] =
        std::string(1, static_cast<char>(byte));
  }
  for (std::size_t rank = 0; rank < merges_.size(); ++rank) {
    const auto [left, right] = merges_[rank];
    const auto id = static_cast<TokenId>(kFirstMerge + rank);
    ids_.emplace(pair_key(left, right), id);
    bytes_[static_cast<std::size_t>(id)] = bytes(left) + bytes(right);
  }
}

std::optional<TokenId> BytePairEncoding::joined(TokenId left, TokenId right) const {
  const auto found = ids_.find(pair_key(left, right));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<TokenId> BytePairEncoding::encode(std::string_view text) const {
  std::vector<TokenId> tokens;
  tokens.reserve(text.size() / 2);
  for_each_piece(text, [&](std::string_view piece) { encode_piece(piece, tokens); });
  return tokens;
}

void BytePairEncoding::encode_piece(std::string_view piece, std::vector<TokenId>& out) const {
  std::vector<Node> nodes(piece.size());
  const auto count = static_cast<std::int32_t>(piece.size());
  for (std::int32_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(piece[static_cast<std::size_t>(i)]);
    nodes[static_cast<std::size_t>(i)] = {kSpecialCount + byte, i - 1, i + 1 < count ? i + 1 : -1};
  }
  const auto node = [&](std::int32_t i) -> Node& { return nodes[static_cast<std::size_t>(i)]; };

  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::int32_t i) {
    if (i < 0 || node(i).next < 0) return;
    const TokenId left = node(i).token, right = node(node(i).next).token;
    if (const auto id = joined(left, right)) queue.push({*id, i, left, right});
  };
  for (std::int32_t i = 0; i < count; ++i) offer(i);

  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node& left = node(best.position);
    const bool stale =
        left.token != best.left || left.next < 0 || node(left.next).token != best.right;
    if (stale) continue;
    Node& right = node(left.next);
    left.token = best.joined;
    right.token = kMergedAway;
    left.next = right.next;
    if (left.next >= 0) node(left.next).previous = best.position;
    offer(left.previous);
    offer(best.position);
  }
  for (std::int32_t i = count > 0 ? 0 : -1; i >= 0; i = node(i).next) out.push_back(node(i).token);
}

std::string BytePairEncoding::decode(std::span<const TokenId> tokens) const {
  std::string text;
  for (const TokenId token : tokens) {
    if (token >= 0 && token < vocabulary()) text += bytes(token);
  }
  return text;
}

}  // namespace krl::libtorch
