#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace krl::machine {
namespace {

constexpr std::size_t kHugePage = 2 << 20;  // bytes

}  // namespace

ZeroPages::~ZeroPages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void ZeroPages::grow(std::size_t bytes) {
  if (bytes <= bytes_) return;
  bytes = std::max({bytes, 2 * bytes_, std::size_t{64} << 10});
  if (bytes > kHugePage) bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = data_ == nullptr ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                  : mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  // Most of a large shadow is touched: one fault for each huge page. Linux places a mapping at a
  // multiple of their size if its own is one.
  madvise(data_, bytes_, MADV_HUGEPAGE);
}

Cell* GlobalShadow::reserve(std::size_t bytes) {
  sectors_.grow((bytes / 32 + 4) * sizeof(Cell));
  return reinterpret_cast<Cell*>(sectors_.data());
}

void GlobalShadow::begin_launch() {
  first_serial_ += static_cast<std::uint32_t>(blocks_.size());
  floor_ = Record{first_serial_} << kSerialShift;
  blocks_.clear();
  words_.clear();
  units_ = 0;
}

std::uint32_t GlobalShadow::begin_block() {
  const auto serial = first_serial_ + static_cast<std::uint32_t>(blocks_.size());
  blocks_.push_back({serial, 0, false});
  return serial;
}

std::uint32_t GlobalShadow::continue_block(std::uint32_t serial) {
  blocks_.push_back({block(serial).first_serial, 0, false});
  return first_serial_ + static_cast<std::uint32_t>(blocks_.size()) - 1;
}

// Bytes of cells are four units one after the other, which a chunk has room for.
std::uint32_t GlobalShadow::take_cells(std::uint32_t units) {
  if (units_ % kChunkUnits + units > kChunkUnits) units_ += kChunkUnits - units_ % kChunkUnits;
  const std::uint32_t first = units_;
  units_ += units;
  while (chunks_.size() * kChunkUnits < units_) {
    chunks_.push_back(std::make_unique_for_overwrite<Cell[]>(std::size_t{kChunkUnits} * kUnit));
  }
  return first;
}

// The sector's record, for each of its cells.
void GlobalShadow::fill(const Cell& sector, Record floor, FineCells* fine) {
  const auto of_cell = [&](Record record, std::uint32_t cell) -> Record {
    if (record < floor) return 0;
    const auto pattern = static_cast<std::uint32_t>(record >> kPatternShift & 15);
    if (pattern == 0) return record;
    const std::uint32_t element = cell * fine->bytes >> (pattern - 1);
    return (record & ~(Record{15} << kPatternShift)) + (Record{element} << kLaneShift);
  };
  for (std::uint32_t cell = 0; cell < kUnit * 4 / fine->bytes; ++cell) {
    fine->cells[cell] = {of_cell(sector.write, cell), of_cell(sector.read, cell)};
  }
}

FineCells GlobalShadow::split(Cell* sector, bool bytewise) {
  const bool had_cells = is_split(*sector);
  const bool had_bytes = had_cells && (sector->read & kBytewise) != 0;
  const auto unit_of = [](const Cell& cell) {
    return static_cast<std::uint32_t>(cell.write >> kLaneShift);
  };
  if (had_cells && (had_bytes || !bytewise)) {
    return {cells_at(unit_of(*sector)), had_bytes ? 1u : 4u};
  }
  // Elements narrower than a word need cells of bytes, too.
  const auto narrow = [&](Record record) {
    const auto pattern = record >> kPatternShift & 15;
    return record >= floor_ && (pattern == 1 || pattern == 2);
  };
  if (!had_cells) bytewise |= narrow(sector->write) || narrow(sector->read);
  const std::uint32_t unit = take_cells(bytewise ? 4 : 1);
  FineCells fine{cells_at(unit), bytewise ? 1u : 4u};
  if (had_cells) {
    const Cell* words = cells_at(unit_of(*sector));
    for (std::uint32_t byte = 0; byte < 32; ++byte) fine.cells[byte] = words[byte / 4];
  } else {
    fill(*sector, floor_, &fine);
  }
  const auto serial_part = [](Record record) { return record >> kSerialShift << kSerialShift; };
  sector->write = serial_part(sector->write) | Record{unit} << kLaneShift | kElsewhere;
  sector->read = serial_part(sector->read) | (bytewise ? kBytewise : 0) | kElsewhere;
  return fine;
}

}  // namespace krl::machine
