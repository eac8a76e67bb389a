// The merges of a byte-pair encoding: which adjacent tokens are joined, and in what order.
// Immutable, hence thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace krl::policies {

using TokenId = std::int32_t;

struct Merge {
  TokenId left, right, joined;
};

class MergeTable {
 public:
  // Memory that calls of one thread reuse.
  struct Scratch {
    struct Node {
      TokenId token;
      std::int32_t previous, next;  // positions, -1 = none
    };
    struct Candidate {
      std::uint64_t order;  // the merge's rank, then the position of its left token
      TokenId joined;
    };
    std::vector<Node> nodes;
    std::vector<Candidate> queue;
  };

  // Merges in the order of their ranks. REQUIRES: ids are not negative, no pair occurs twice.
  explicit MergeTable(std::span<const Merge> merges);

  // Joins neighbours of `tokens` in place, always those of the lowest rank first and of these the
  // leftmost, until no merge is left. Takes O(n log n) steps.
  void apply(std::vector<TokenId>& tokens, Scratch& scratch) const;

 private:
  struct Entry {
    std::uint32_t rank;
    TokenId joined;
  };
  struct Hash {
    std::size_t operator()(std::uint64_t pair) const {
      pair *= 0x9E3779B97F4A7C15u;  // the golden ratio's fraction: Fibonacci hashing
      return pair ^ pair >> 32;
    }
  };

  const Entry* find(TokenId left, TokenId right) const;
  void offer(std::int32_t position, Scratch& scratch) const;

  std::unordered_map<std::uint64_t, Entry, Hash> entries_;
};

}  // namespace krl::policies
