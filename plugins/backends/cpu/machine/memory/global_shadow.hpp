// The shadow of global memory: the last writer and reader of each sector of 32 bytes in this launch
// and, where the lanes of a warp did not access a whole sector in order, of each of its words or
// bytes. It is used to detect races, and which sectors a block or a launch touches for the first
// time.
//
// Records of earlier launches are recognised by their block's serial number and need no clearing;
// untouched pages cost nothing. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/backends/cpu/machine/memory/identity.hpp"
#include "plugins/backends/cpu/machine/memory/knowledge.hpp"

namespace krl::machine {

// The last accesses to a sector, a word or a byte. In a sector that has finer cells, both records
// have kElsewhere and the serial of the block that made the last access, and `write` has the number
// of the cells.
struct Cell {
  Record write = 0, read = 0;
};

// The finer cells of a sector.
struct FineCells {
  Cell* cells = nullptr;
  std::uint32_t bytes = 4;  // size of each: 4 or 1

  Cell& of(std::uint64_t address) const { return cells[address % 32 / bytes]; }
};

// Anonymous memory, zero until it is touched.
class ZeroPages {
 public:
  ZeroPages() = default;
  ~ZeroPages();
  ZeroPages(const ZeroPages&) = delete;
  ZeroPages& operator=(const ZeroPages&) = delete;
  // Grows to at least `bytes`; the contents stay. Throws std::bad_alloc.
  void grow(std::size_t bytes);
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A block that has run or runs in this launch.
struct BlockRecord {
  std::uint32_t first_serial = 0;  // a long block has several serials, one after another
  std::uint64_t fenced = 0;        // the time of its last fence for all; 0: none
  bool forgotten = false;          // its accesses under this serial count as ordered
};

class GlobalShadow {
 public:
  // Cells for the sectors of so many bytes. Throws std::bad_alloc.
  Cell* reserve(std::size_t bytes);

  void begin_launch();
  SyncWords& words() { return words_; }
  std::uint64_t time() const { return time_; }  // counts fences
  std::uint64_t next_time() { return ++time_; }
  // A serial number for a block that begins, or for one whose stamps have been used up.
  std::uint32_t begin_block();
  std::uint32_t continue_block(std::uint32_t serial);
  // A record that is less is of an earlier launch.
  Record launch_floor() const { return floor_; }
  BlockRecord& block(std::uint32_t serial) { return blocks_[serial - first_serial_]; }
  const BlockRecord& block(std::uint32_t serial) const { return blocks_[serial - first_serial_]; }
  bool same_block(std::uint32_t a, std::uint32_t b) const {
    return a == b || block(a).first_serial == block(b).first_serial;
  }

  // True if a sector has finer cells in this launch. If only one record has kElsewhere, that record
  // is from an earlier launch, and a plain access of this one has replaced the other.
  bool is_split(const Cell& sector) const {
    return (sector.write & sector.read & kElsewhere) != 0 &&
           (sector.write >= floor_ || sector.read >= floor_);
  }
  // Splits a sector into cells of words, or, if `bytewise`, of bytes; existing cells stay.
  FineCells split(Cell* sector, bool bytewise);
  // A split sector was stored to, or loaded from, by a block.
  static void touch(Record* record, std::uint32_t serial) {
    *record = (*record & ((Record{1} << kSerialShift) - 1)) | Record{serial} << kSerialShift;
  }

 private:
  static constexpr std::uint32_t kUnit = 8;  // cells that are given out together
  static constexpr std::uint32_t kChunkUnits = 4096;
  static constexpr Record kBytewise = 1u << kLaneShift;  // set in `read`: the cells are bytes

  std::uint32_t take_cells(std::uint32_t units);
  Cell* cells_at(std::uint32_t unit) {
    return chunks_[unit / kChunkUnits].get() + std::size_t{unit % kChunkUnits} * kUnit;
  }
  static void fill(const Cell& sector, Record floor, FineCells* fine);

  ZeroPages sectors_;
  std::uint32_t first_serial_ = 1;
  Record floor_ = Record{1} << kSerialShift;
  std::vector<BlockRecord> blocks_;
  SyncWords words_;
  std::uint64_t time_ = 0;
  std::vector<std::unique_ptr<Cell[]>> chunks_;
  std::uint32_t units_ = 0;  // given out in this launch
};

}  // namespace krl::machine
