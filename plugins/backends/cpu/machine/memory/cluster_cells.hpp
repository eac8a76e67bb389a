// The last accesses to the words of a block's shared memory that threads of other blocks of its
// cluster have accessed, too: a cell for each word, or for each of its bytes. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plugins/backends/cpu/machine/memory/identity.hpp"

namespace krl::machine {

struct ClusterCell {
  Record write = 0;
  Record own_read = 0, peer_read = 0;  // by the block whose memory it is, and by others
};

class ClusterCells {
 public:
  struct Word {
    ClusterCell* cells = nullptr;
    std::uint32_t bytes = 4;  // size of each: 4 or 1

    ClusterCell& of(std::uint32_t offset) const { return cells[offset % 4 / bytes]; }
  };

  // Returns the cells of a word that has none yet, of which there are so many: one, or four.
  ClusterCell* add(std::uint32_t word, std::size_t words, bool bytewise) {
    words_.resize(words);
    if (bytewise) return bytes_[word].data();
    bytes_.erase(word);
    return &words_[word];
  }
  // The word has cells; `bytewise`: it gets some for its bytes.
  Word find(std::uint32_t word, bool bytewise) {
    if (const auto found = bytes_.find(word); found != bytes_.end())
      return {found->second.data(), 1};
    if (!bytewise) return {&words_[word], 4};
    std::array<ClusterCell, 4>& cells = bytes_[word];
    cells.fill(words_[word]);
    return {cells.data(), 1};
  }
  // True if all of the word's bytes are written; it has cells.
  bool is_written(std::uint32_t word) const {
    const auto found = bytes_.find(word);
    if (found == bytes_.end()) return words_[word].write != 0;
    return std::all_of(found->second.begin(), found->second.end(),
                       [](const ClusterCell& cell) { return cell.write != 0; });
  }
  void clear() {
    words_.clear();
    bytes_.clear();
  }

 private:
  std::vector<ClusterCell> words_;
  std::unordered_map<std::uint32_t, std::array<ClusterCell, 4>> bytes_;
};

}  // namespace krl::machine
