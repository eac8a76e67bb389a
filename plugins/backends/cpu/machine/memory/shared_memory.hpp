// The shared memory of a block and its shadow: the last writer and reader of each word of 4 bytes,
// and of each byte in words with narrower accesses. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/garbage.hpp"
#include "plugins/backends/cpu/machine/memory/cluster_cells.hpp"
#include "plugins/backends/cpu/machine/memory/order.hpp"
#include "plugins/backends/cpu/machine/memory/shape.hpp"

namespace krl::machine {

class SharedMemory {
 public:
  // `garbage` outlives this.
  explicit SharedMemory(cpu::Garbage& garbage) : garbage_(garbage) {}

  // A block begins. `forget`: no stamp in the shadow means anything any more.
  void begin_block(std::uint32_t bytes, bool forget);
  // All accesses so far are ordered; words that the block wrote stay written. See
  // AccessOrder::reset_stamps.
  void reset_stamps(Who block_begin);

  std::byte* data() { return reinterpret_cast<std::byte*>(data_.data()); }
  std::uint32_t bytes() const { return bytes_; }

  // A plain access of whole words by a warp; false, if it needs a closer look: then some words may
  // be known to have been read or written already. `first_word`: of the first address.
  bool load(const WordShape& shape, std::uint32_t first_word, Who present,
            const AccessOrder& order);
  bool store(const WordShape& shape, std::uint32_t first_word, Who present,
             const AccessOrder& order);

  // The same for four words by one lane.
  bool load_chunk(std::uint32_t word, Who who, const AccessOrder& order);

  // One lane's access of any kind, which need not be whole words.
  struct Outcome {
    Verdict verdict = Verdict::kFine;
    Conflict conflict;
    bool copy_under_way = false;  // kRace: with an asynchronous copy, to there or from there
    bool encounter = false;       // see AccessOrder::encounters
  };
  Outcome access(std::uint32_t offset, std::uint32_t bytes, const Access& access,
                 AccessOrder& order) {
    return this->access(offset, bytes, access, order, order);
  }
  // The same by a thread of a block of the cluster: `order` is of its block, `own` of this one.
  Outcome access(std::uint32_t offset, std::uint32_t bytes, const Access& access,
                 AccessOrder& order, const AccessOrder& own);

  // Returns who last wrote the word at `offset`.
  Who last_writer(std::uint32_t offset) const { return writes_[offset / 4]; }

  // True if the block, in which nothing was accessed before `begin`, has written all of these words,
  // and no copy to them is under way.
  bool is_written(std::uint32_t offset, std::uint32_t bytes, Who begin) const;

  // Finds the first store to these words, since `begin`, by an ordinary instruction of one thread
  // that is wanted; who = 0: there is none.
  struct Store {
    std::uint32_t offset = 0;
    Who who = 0;
  };
  template <class Wanted>
  Store find_store(std::uint32_t offset, std::uint32_t bytes, Who begin,
                   const Wanted& wanted) const {
    const auto is_it = [&](Who who) {
      const bool of_cluster = (who & (kManyWarps | kStrong)) == kManyWarps;  // ordered_by_cluster
      return who >= begin && !is_marked(who) && (who & (kMany | kElsewhere)) == 0 && !of_cluster &&
             wanted(who);
    };
    for (std::uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      if (is_it(writes_[word])) return {word * 4, writes_[word]};
      if (writes_[word] != kBytewise) continue;
      for (std::uint32_t byte = word * 4; byte < word * 4 + 4; ++byte) {
        if (is_it(byte_writes_[byte])) return {byte, byte_writes_[byte]};
      }
    }
    return {};
  }

  // The words of an asynchronous copy, which must not be accessed before it is waited for.
  void begin_copy(std::uint32_t offset, std::uint32_t bytes, Who who);
  // The copy is there, as if `who` had stored it, through the asynchronous proxy if that is
  // kElsewhere.
  void end_copy(std::uint32_t offset, std::uint32_t bytes, Who who);
  // Words that an asynchronous copy from shared memory reads must not be written until it has; then
  // it is as if `who` had read them.
  void begin_read(std::uint32_t offset, std::uint32_t bytes, Who who);
  void end_read(std::uint32_t offset, std::uint32_t bytes, Who who);

 private:
  // A value of `writes_`, above all stamps: the word has cells of bytes, or a copy to it is under
  // way, or threads of other blocks have accessed it.
  static constexpr Who kBytewise = first_of_stamp(kStamps - 1) | kElsewhere;
  static constexpr Who kCopy = kBytewise | kStrong;
  static constexpr Who kOfCluster = kBytewise | kMany;
  // Another one: the word's cell in cluster_cells_ is still true, but all of it is ordered before
  // what the block does. (Only atomics of several warps have kManyWarps else.)
  static Who ordered_by_cluster(const AccessOrder& own) { return own.block_begin() | kManyWarps; }
  // A value of `reads_`: a copy from the word is under way.
  static constexpr Who kCopied = kBytewise | kManyWarps;
  static constexpr bool is_marked(Who who) { return who >= first_of_stamp(kStamps - 1); }

  Outcome access_cell(Who* write, Who* read, const Access& access, AccessOrder& order);
  static Outcome access_cell(Cell* cell, const Access& access, AccessOrder& order);
  static Outcome access_cell(ClusterCell* cell, const Access& access, AccessOrder& order,
                             bool own_block);
  void give_to_cluster(std::uint32_t word, const AccessOrder& own);
  void take_back(std::uint32_t word, const ClusterCell& before, const Access& access,
                 const AccessOrder& own);
  void split(std::uint32_t word);

  cpu::Garbage& garbage_;
  std::vector<std::uint64_t> data_;
  std::uint32_t bytes_ = 0;
  std::vector<Who> writes_, reads_;            // one per word
  std::vector<Who> byte_writes_, byte_reads_;  // one per byte; empty until needed
  bool marked_ = false;                        // there are marked words
  ClusterCells cluster_cells_;                 // cells of words with kOfCluster
};

}  // namespace krl::machine
