#include "plugins/policies/tokenizer/merge_table.hpp"

#include <algorithm>

namespace krl::policies {
namespace {

using Scratch = MergeTable::Scratch;

std::uint64_t pair_key(TokenId left, TokenId right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

bool comes_later(const Scratch::Candidate& a, const Scratch::Candidate& b) {
  return a.order > b.order;
}

Scratch::Candidate pop_best(std::vector<Scratch::Candidate>& queue) {
  std::pop_heap(queue.begin(), queue.end(), comes_later);
  const Scratch::Candidate best = queue.back();
  queue.pop_back();
  return best;
}

constexpr TokenId kMergedAway = -1;

}  // namespace

MergeTable::MergeTable(std::span<const Merge> merges) {
  entries_.reserve(merges.size());
  for (const Merge& merge : merges) {
    const auto rank = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace(pair_key(merge.left, merge.right), Entry{rank, merge.joined});
  }
}

const MergeTable::Entry* MergeTable::find(TokenId left, TokenId right) const {
  const auto found = entries_.find(pair_key(left, right));
  return found == entries_.end() ? nullptr : &found->second;
}

// Queues the merge of the token at `position` with the one after it, if there is one.
void MergeTable::offer(std::int32_t position, Scratch& scratch) const {
  if (position < 0) return;
  const auto& nodes = scratch.nodes;
  const auto& node = nodes[static_cast<std::size_t>(position)];
  if (node.next < 0) return;
  const Entry* entry = find(node.token, nodes[static_cast<std::size_t>(node.next)].token);
  if (entry == nullptr) return;
  const auto order =
      static_cast<std::uint64_t>(entry->rank) << 32 | static_cast<std::uint32_t>(position);
  scratch.queue.push_back({order, entry->joined});
  std::push_heap(scratch.queue.begin(), scratch.queue.end(), comes_later);
}

void MergeTable::apply(std::vector<TokenId>& tokens, Scratch& scratch) const {
  auto& [nodes, queue] = scratch;
  nodes.clear();
  queue.clear();
  const auto count = static_cast<std::int32_t>(tokens.size());
  for (std::int32_t i = 0; i < count; ++i) {
    nodes.push_back({tokens[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  }
  for (std::int32_t i = 0; i < count; ++i) offer(i, scratch);

  while (!queue.empty()) {
    const Scratch::Candidate best = pop_best(queue);
    const auto position = static_cast<std::int32_t>(static_cast<std::uint32_t>(best.order));
    Scratch::Node& left = nodes[static_cast<std::size_t>(position)];
    if (left.token == kMergedAway || left.next < 0) continue;
    Scratch::Node& right = nodes[static_cast<std::size_t>(left.next)];
    // The pair may have changed since it was queued. As in the `tokenizers` library it is still
    // joined, at the queued rank, if the present pair joins to the same token.
    const Entry* entry = find(left.token, right.token);
    if (entry == nullptr || entry->joined != best.joined) continue;
    left.token = best.joined;
    left.next = right.next;
    right.token = kMergedAway;
    if (left.next >= 0) nodes[static_cast<std::size_t>(left.next)].previous = position;
    offer(left.previous, scratch);
    offer(position, scratch);
  }
  tokens.clear();
  for (const Scratch::Node& node : nodes) {
    if (node.token != kMergedAway) tokens.push_back(node.token);
  }
}

}  // namespace krl::policies
