// The shadow of global memory: who wrote and who read each sector of 32 bytes last in this launch,
// and, where the lanes of a warp did not take a whole sector one element after the other, who wrote
// and read each word or byte of it. It finds accesses that nothing orders, and tells which sectors
// a block or launch touches for the first time.
//
// Records of earlier launches are told by their block's serial number and need no clearing; pages
// that nobody touches cost nothing. One thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine/memory/identity.hpp"

namespace krl::machine {

// serial of the block (28) | pattern (4) | Who (32). Of a sector, the pattern is the binary
// logarithm of the bytes of an element, and the lane in Who is that of the first element.
using Record = std::uint64_t;
inline constexpr unsigned kSerialShift = 36, kPatternShift = 32;
inline constexpr std::uint32_t serial_of(Record record) {
  return static_cast<std::uint32_t>(record >> kSerialShift);
}
inline constexpr Who who_of(Record record) { return static_cast<Who>(record); }

// Of a sector, a word or a byte. Where the sector has finer cells, `write` and `read` have the
// serials of the last block that did so, kElsewhere, and in `write` the number of the cells.
struct Cell {
  Record write = 0, read = 0;
};
struct SectorRecord : Cell {};

// Anonymous memory, zero until it is touched.
class ZeroPages {
 public:
  ZeroPages() = default;
  ~ZeroPages();
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;
  // Throws std::bad_alloc.
  void reserve(std::size_t bytes);
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A block that has run or runs in this launch.
struct BlockRecord {
  std::uint32_t fence_stamp = 0;  // of its last fence that other blocks may see; 0: none
  bool atomic = false;            // it made a strong access
  bool continued = false;         // the same block as the one with the serial before
};

class GlobalShadow {
 public:
  // Room for so many bytes of memory: the first sector's record. Throws std::bad_alloc.
  SectorRecord* reserve(std::size_t bytes);

  void begin_launch();
  // A serial number for a block that begins.
  std::uint32_t begin_block();
  // Of records: less means an earlier launch.
  Record launch_floor() const { return Record{first_serial_} << kSerialShift; }
  BlockRecord& block(std::uint32_t serial) { return blocks_[serial - first_serial_]; }

 private:
  ZeroPages sectors_;
  std::uint32_t first_serial_ = 1;
  std::vector<BlockRecord> blocks_;
};

}  // namespace krl::machine
