// Detects that a warp does nothing but wait: it has read the same words again, found the same
// values in them, and done no other work in between. Its next steps would repeat the previous ones,
// so it need not go on until one of the words changes. Used by one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "plugins/backends/cpu/machine/lanes.hpp"

namespace krl::machine {

struct Instruction;

// The words that the lanes of a warp read at once, as they are in the memory of this process.
struct WatchedWords {
  std::array<const std::byte*, kLanes> at;
  std::uint32_t count = 0, bytes = 4;

  void add(const std::byte* word) {
    if (count == 0 || at[count - 1] != word) at[count++] = word;
  }
  template <class Visit>
  void each_word(const Visit& visit) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t k = 0; k < bytes; k += 4) {
        visit(at[i] + k - reinterpret_cast<std::uintptr_t>(at[i]) % 4);
      }
    }
  }
  // Computes a digest of the places and their present contents.
  std::uint64_t digest() const {
    std::uint64_t sum = count;
    const auto mix = [&](std::uint64_t part) {
      sum = (sum ^ part) * 0x9e3779b97f4a7c15;
      sum ^= sum >> 29;
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint64_t parts[2] = {};
      std::memcpy(parts, at[i], std::min<std::size_t>(bytes, sizeof parts));
      mix(reinterpret_cast<std::uintptr_t>(at[i]));
      mix(parts[0]);
      mix(parts[1]);
    }
    return sum;
  }
};

class Polls {
 public:
  void begin() {
    if (next_ > 0) seen_ = {};
    next_ = 0;
    work_ = 0;
    waits_ = false;
  }

  // The warp has done what may let it, or others, go on: `amount` is 0 if not.
  void work(std::uint32_t amount) { work_ += amount; }
  std::uint64_t work() const { return work_; }

  // An instruction that may be part of a wait read these words, and changed none. `apart`: of lanes
  // that go their own way.
  void saw(const Instruction* by, bool apart, const WatchedWords& words) {
    const std::uint64_t digest = words.digest();
    const auto is_this = [&](const Seen& seen) { return seen.by == by && seen.apart == apart; };
    Seen* seen = std::find_if(seen_.begin(), seen_.end(), is_this);
    if (seen == seen_.end()) seen = &seen_[next_++ % kSeen];
    const bool same = is_this(*seen) && seen->digest == digest;
    waits_ = same && seen->work == work_;
    if (waits_) return;
    if (!same) ++work_;
    *seen = {by, apart, digest, work_, words};
  }

  // True if the warp waits, and nothing that it waits for has happened.
  bool waits() {
    waits_ =
        waits_ && std::all_of(seen_.begin(), seen_.end(), [this](const Seen& seen) {
          return seen.by == nullptr || seen.work != work_ || seen.words.digest() == seen.digest;
        });
    return waits_;
  }
  void wake() { waits_ = false; }

 private:
  static constexpr std::size_t kSeen = 4;  // instructions of one loop

  struct Seen {
    const Instruction* by = nullptr;
    bool apart = false;
    std::uint64_t digest = 0, work = 0;
    WatchedWords words;
  };

  std::array<Seen, kSeen> seen_{};
  std::size_t next_ = 0;
  std::uint64_t work_ = 0;
  bool waits_ = false;
};

}  // namespace krl::machine
