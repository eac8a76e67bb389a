// The local memory of a warp's threads, interleaved word by word as in hardware: the words of all
// lanes at one offset are adjacent. What a thread has not written reads as bytes of 0xff (a NaN in
// every format), never as data of another thread or block. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/address_space.hpp"
#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"

namespace krl::machine {

class LocalMemory {
 public:
  void begin_block() { usable_ = 0; }

  // Makes [0, end) of each lane usable; end is at most kLocalBytes. Throws std::bad_alloc.
  void use(std::uint32_t end) {
    const std::uint32_t words = (end + 3) / 4;
    if (words <= usable_) return;
    pages_.grow(std::size_t{words} * kLanes * 4);
    std::memset(word_row(usable_), 0xff, std::size_t{words - usable_} * kLanes * 4);
    usable_ = words;
  }

  // The lanes' words at byte offset 4 * word.
  std::uint32_t* word_row(std::uint32_t word) {
    return reinterpret_cast<std::uint32_t*>(pages_.data()) + std::size_t{word} * kLanes;
  }

  // An aligned value of 1, 2, 4, 8 or 16 bytes of one lane.
  void read(unsigned lane, std::uint32_t offset, std::uint32_t bytes, std::byte* to) {
    for (std::uint32_t done = 0; done < bytes; done += 4) {
      std::memcpy(to + done, at(lane, offset + done), bytes - done < 4 ? bytes : 4);
    }
  }
  void write(unsigned lane, std::uint32_t offset, std::uint32_t bytes, const std::byte* from) {
    for (std::uint32_t done = 0; done < bytes; done += 4) {
      std::memcpy(at(lane, offset + done), from + done, bytes - done < 4 ? bytes : 4);
    }
  }

 private:
  std::byte* at(unsigned lane, std::uint32_t offset) {
    return reinterpret_cast<std::byte*>(word_row(offset / 4) + lane) + offset % 4;
  }

  ZeroPages pages_;
  std::uint32_t usable_ = 0;  // words of each lane that hold what was written, or 0xff
};

}  // namespace krl::machine
