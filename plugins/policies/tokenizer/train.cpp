#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>

#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"

namespace krl::policies {
namespace {

using Pair = std::pair<TokenId, TokenId>;

struct Word {
  std::vector<TokenId> tokens;
  std::int64_t count;  // occurrences of the piece in the corpus
};

// The best pair by a count that may be outdated: checked against `PairTable::count` when popped.
struct Ranked {
  std::int64_t count;
  Pair pair;
  bool operator<(const Ranked& other) const {  // the top of the queue: frequent, then small ids
    return std::tie(count, other.pair) < std::tie(other.count, pair);
  }
};

// Counts how often each pair of neighbours occurs, and in which words.
class PairTable {
 public:
  explicit PairTable(std::vector<Word> words) : words_(std::move(words)) {
    for (std::size_t i = 0; i < words_.size(); ++i) count_pairs(i, +1);
    for (const auto& [pair, entry] : pairs_) queue_.push({entry.count, pair});
  }

  // The most frequent pair that occurs at least twice.
  std::optional<Pair> best() {
    while (!queue_.empty()) {
      const Ranked top = queue_.top();
      queue_.pop();
      const std::int64_t count = pairs_[top.pair].count;
      if (count == top.count) return count >= 2 ? std::optional(top.pair) : std::nullopt;
      if (count > 0) queue_.push({count, top.pair});
    }
    return std::nullopt;
  }

  void merge(const Pair& pair, TokenId joined) {
    const std::set<std::size_t> affected = std::move(pairs_[pair].words);
    std::set<Pair> changed;
    for (const std::size_t i : affected) {
      count_pairs(i, -1);
      replace(words_[i].tokens, pair, joined);
      count_pairs(i, +1);
      for_each_pair(i, [&](const Pair& p) {
        if (p.first == joined || p.second == joined) changed.insert(p);
      });
    }
    for (const Pair& p : changed) queue_.push({pairs_[p].count, p});
  }

 private:
  struct Entry {
    std::int64_t count = 0;
    std::set<std::size_t> words;  // may name words that have lost the pair
  };

  template <class Visit>
  void for_each_pair(std::size_t word, Visit&& visit) {
    const auto& tokens = words_[word].tokens;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) visit(Pair{tokens[i], tokens[i + 1]});
  }

  void count_pairs(std::size_t word, std::int64_t sign) {
    for_each_pair(word, [&](const Pair& pair) {
      Entry& entry = pairs_[pair];
      entry.count += sign * words_[word].count;
      if (sign > 0) entry.words.insert(word);
    });
  }

  static void replace(std::vector<TokenId>& tokens, const Pair& pair, TokenId joined) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool match = i + 1 < tokens.size() && Pair{tokens[i], tokens[i + 1]} == pair;
      tokens[kept++] = match ? joined : tokens[i];
      if (match) ++i;
    }
    tokens.resize(kept);
  }

  std::vector<Word> words_;
  std::map<Pair, Entry> pairs_;
  std::priority_queue<Ranked> queue_;
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

std::vector<Word> count_words(std::span<const std::string_view> texts) {
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string_view text : texts) {
    for_each_piece(text, [&](std::string_view piece) { ++counts[piece]; });
  }
  std::vector<Word> words;
  words.reserve(counts.size());
  for (const auto& [piece, count] : counts) {
    Word& word = words.emplace_back();
    word.count = count;
    for (const char c : piece) {
      word.tokens.push_back(kSpecialCount + static_cast<unsigned char>(c));
    }
  }
  return words;
}

}  // namespace

std::vector<Merge> learn_merges(std::span<const std::string_view> texts, std::int64_t vocabulary) {
  PairTable pairs(count_words(texts));
  std::vector<Merge> merges;
  std::vector<std::string> spelled(kFirstMerge);  // the bytes of each token
  for (TokenId byte = 0; byte < kByteCount; ++byte) {
    spelled[static_cast<std::size_t>(kSpecialCount + byte)] = static_cast<char>(byte);
  }
  std::set<std::string> known(spelled.begin(), spelled.end());
  known.insert(std::begin(kSpecialTokens), std::end(kSpecialTokens));  // they have reserved ids
  while (static_cast<std::int64_t>(spelled.size()) < vocabulary) {
    const auto best = pairs.best();
    if (!best) break;
    const std::string bytes = spelled[static_cast<std::size_t>(best->first)] +
                              spelled[static_cast<std::size_t>(best->second)];
    if (!known.insert(bytes).second) continue;  // spelled by another merge already
    const auto joined = static_cast<TokenId>(spelled.size());
    pairs.merge(*best, joined);
    spelled.push_back(bytes);
    merges.push_back({best->first, best->second, joined});
  }
  return merges;
}

}  // namespace krl::policies
