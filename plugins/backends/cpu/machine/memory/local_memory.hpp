// The local memory of a warp's threads, interleaved word by word as in hardware: the words of all
// lanes at one offset are adjacent. Bytes that a thread has not written are tracked, and read as
// garbage, never as data of another thread or block. Used by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plugins/backends/cpu/garbage.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/address_space.hpp"
#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"

namespace krl::machine {

class LocalMemory {
 public:
  void begin_block() { usable_ = 0; }

  // Makes [0, end) of each lane usable; end is at most kLocalBytes. Throws std::bad_alloc.
  void use(std::uint32_t end, cpu::Garbage& garbage) {
    const std::uint32_t words = (end + 3) / 4;
    if (words <= usable_) return;
    pages_.grow(std::size_t{words} * kLanes * 4);
    written_.grow(std::size_t{words} * kLanes);
    clear(usable_, words, kAllLanes, garbage);
    usable_ = words;
  }
  // Bytes [begin, end) of the lanes belong to another variable now.
  void forget(std::uint32_t begin, std::uint32_t end, Mask lanes, cpu::Garbage& garbage) {
    clear(begin / 4, std::min((end + 3) / 4, usable_), lanes, garbage);
  }

  // is_written: true if a lane has written any of the bytes of an aligned value. set_written:
  // records that it has written all of them.
  bool is_written(unsigned lane, std::uint32_t offset, std::uint32_t bytes) const {
    std::uint8_t known = 0;
    for (std::uint32_t at = offset; at < offset + bytes; at += 4) {
      known |= *written_at(lane, at) & bits_of(at, bytes);
    }
    return known != 0;
  }
  void set_written(unsigned lane, std::uint32_t offset, std::uint32_t bytes) {
    for (std::uint32_t at = offset; at < offset + bytes; at += 4) {
      *written_at(lane, at) |= bits_of(at, bytes);
    }
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
  void clear(std::uint32_t begin, std::uint32_t end, Mask lanes, cpu::Garbage& garbage) {
    for (std::uint32_t word = begin; word < end; ++word) {
      const std::uint32_t* const values = garbage.take(kLanes * 4);
      set_lanes(word_row(word), lanes, [&](unsigned lane) { return values[lane]; });
      set_lanes(written_row(word), lanes, [](unsigned) { return std::uint8_t{0}; });
    }
  }
  // Covers the words of all lanes at one offset, with a bit for each byte.
  std::uint8_t* written_row(std::uint32_t word) const {
    return reinterpret_cast<std::uint8_t*>(written_.data()) + std::size_t{word} * kLanes;
  }
  std::uint8_t* written_at(unsigned lane, std::uint32_t offset) const {
    return written_row(offset / 4) + lane;
  }
  static std::uint8_t bits_of(std::uint32_t offset, std::uint32_t bytes) {
    return static_cast<std::uint8_t>((bytes >= 4 ? 15u : (1u << bytes) - 1) << offset % 4);
  }
  std::byte* at(unsigned lane, std::uint32_t offset) {
    return reinterpret_cast<std::byte*>(word_row(offset / 4) + lane) + offset % 4;
  }

  ZeroPages pages_, written_;
  std::uint32_t usable_ = 0;  // words of each lane that hold written values, or 0xff
};

}  // namespace krl::machine
