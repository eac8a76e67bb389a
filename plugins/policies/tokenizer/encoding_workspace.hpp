// Working memory of a thread that encodes text, reused by the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/policies/tokenizer/merge_table.hpp"
#include "plugins/policies/tokenizer/split_pattern.hpp"

namespace krl::policies {

// The ids of pieces that were encoded before. Text repeats its words: few pieces need merging.
class PieceCache {
 public:
  // Appends the ids of a piece that is known.
  bool append(std::string_view piece, std::vector<TokenId>& out) const {
    const auto found = ranges_.find(piece);
    if (found == ranges_.end()) return false;
    const auto begin = tokens_.begin() + found->second.begin;
    out.insert(out.end(), begin, begin + found->second.size);
    return true;
  }

  // Keeps the ids of a piece unless it is long or there are many already.
  void keep(std::string_view piece, std::span<const TokenId> tokens) {
    if (piece.size() > kLongestPiece || ranges_.size() == kMostPieces) return;
    ranges_.emplace(piece, Range{static_cast<std::int32_t>(tokens_.size()),
                                 static_cast<std::int32_t>(tokens.size())});
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  }

 private:
  static constexpr std::size_t kLongestPiece = 64;     // bytes
  static constexpr std::size_t kMostPieces = 1 << 16;  // about 8 MB

  struct Range {
    std::int32_t begin, size;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, Range, Hash, std::equal_to<>> ranges_;
  std::vector<TokenId> tokens_;
};

// The working memory of one thread for encoding.
struct EncodingWorkspace {
  SplitPattern::Workspace split;
  MergeTable::Scratch merge;
  PieceCache cache;
  std::vector<TokenId> piece;
};

// Workspaces that no thread uses at the moment; as many as have ever encoded at the same time.
class EncodingWorkspacePool {
 public:
  std::unique_ptr<EncodingWorkspace> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<EncodingWorkspace>();
    auto workspace = std::move(free_.back());
    free_.pop_back();
    return workspace;
  }

  void give_back(std::unique_ptr<EncodingWorkspace> workspace) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(workspace));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodingWorkspace>> free_;
};

}  // namespace krl::policies
