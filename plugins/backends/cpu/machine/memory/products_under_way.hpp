// The asynchronous matrix products of a warp (wgmma): what it has not waited for yet, the fences
// between its registers and them, and what it has executed, which the four warps of a warpgroup
// have to agree on.
//
// Products are computed when they begin. Until they are waited for, their registers must not be
// used, nor what they read from shared memory change. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "plugins/backends/cpu/machine/memory/shared_memory.hpp"

namespace krl::machine {

inline constexpr std::uint32_t kWarpsPerGroup = 4;

// How a register is used by products and others; in the frame, beside the register.
struct RegisterUse {
  std::uint64_t accumulates = 0;  // the last group of products that accumulates in it; 0: none
  std::uint64_t multiplies = 0;   // … that takes a factor from it
  std::uint64_t written = 0;  // the interval between fences in which another instruction wrote it
  std::uint32_t accumulates_line = 0, multiplies_line = 0, written_line = 0;
  std::uint32_t shape = 0;  // shape of the products that accumulate in it
};

class ProductsUnderWay {
 public:
  // Nothing of an earlier block is under way any more.
  void begin_block() {
    done_ = group_++;
    ++interval_;
    fenced_ = false;
    reads_.clear();
    executed_ = {};
  }

  // ---- groups ----
  std::uint64_t group() const { return group_; }  // the group of products that begin now
  bool is_under_way(std::uint64_t group) const { return group > done_; }
  void commit() { ++group_; }
  // Waits until at most `pending` of the groups that were committed are under way. Calls
  // check(chunk, line) for each chunk that a product read which has now ended.
  template <class Check>
  void wait(std::uint64_t pending, const Check& check) {
    if (group_ - 1 > pending && group_ - 1 - pending > done_) done_ = group_ - 1 - pending;
    for (; !reads_.empty() && reads_.front().group <= done_; reads_.pop_front()) {
      for (const Chunk& chunk : reads_.front().chunks) check(chunk, reads_.front().line);
    }
  }

  // ---- registers ----
  void fence() {
    ++interval_;
    fenced_ = true;
  }
  bool has_fenced() const { return fenced_; }
  std::uint64_t interval() const { return interval_; }

  // ---- shared memory ----
  // 16 bytes that a product reads.
  struct Chunk {
    std::uint32_t offset = 0;
    std::uint32_t digest = 0;  // digest of the contents
  };
  // A product has read these. Of many, only the last are kept.
  void begin_reads(std::vector<Chunk> chunks, std::uint32_t line) {
    reads_.push_back({group_, line, std::move(chunks)});
    if (reads_.size() > kMostReads) reads_.pop_front();
  }

  // ---- the warpgroup ----
  struct Executed {
    std::uint64_t count = 0;
    std::uint64_t digest = 0;  // digest of the instructions and their descriptors
    std::uint32_t line = 0;    // line of the last
    bool operator==(const Executed&) const = default;
  };
  void execute(std::uint64_t what, std::uint32_t line) {
    ++executed_.count;
    executed_.digest = (executed_.digest ^ what) * 0x9e3779b97f4a7c15;
    executed_.digest ^= executed_.digest >> 29;
    executed_.line = line;
  }
  const Executed& executed() const { return executed_; }

 private:
  static constexpr std::size_t kMostReads = 32;
  struct Reads {
    std::uint64_t group;
    std::uint32_t line;
    std::vector<Chunk> chunks;
  };

  std::uint64_t group_ = 1, done_ = 0, interval_ = 1;
  bool fenced_ = false;
  std::deque<Reads> reads_;
  Executed executed_;
};

}  // namespace krl::machine
