// The memory that bulk copies touch: when they begin, and when they arrive.
#include <algorithm>
#include <cstring>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/faults.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kChunk = 16;  // addresses and sizes are multiples of it

// Rows of tensors may begin and end at any element.
std::uint32_t chunk_of(const BulkCopy& copy, const TensorMap::Run& run) {
  const bool whole = copy.map == nullptr || (run.address | run.bytes) % kChunk == 0;
  return whole ? kChunk : copy.map->element_bytes();
}

Request request_of(const BulkCopy& copy, bool write) {
  const bool atomic = copy.combine != nullptr;
  const std::uint32_t bytes = atomic ? copy.access->element_bytes : kChunk;
  return {*copy.access, copy.line, copy.warp, 0, bytes, write, atomic, atomic, nullptr};
}

}  // namespace

// Counts as a warp's request whose lanes access neighbouring elements; a copy is one request, as it
// is one instruction.
MemoryLevel BlockMemory::count_bulk(const Request& request, const Region& region,
                                    std::uint64_t address, std::uint32_t bytes) {
  const Record own = Record{order_.serial()} << kSerialShift | present(request.warp);
  const Record floor = launch_.shadow().launch_floor();
  AccessCounts& counts = request.access.counts;
  MemoryLevel level = MemoryLevel::kL1;
  const auto meet = [&](std::uint64_t& count, MemoryLevel at) {
    ++count;
    level = std::max(level, at);
  };
  Cell* cell = region.shadow + (address - region.begin) / kSectorBytes;
  Cell* const end = region.shadow + (address + bytes - 1 - region.begin) / kSectorBytes + 1;
  counts.sectors += static_cast<std::uint64_t>(end - cell);
  counts.needed_sectors += static_cast<std::uint64_t>(end - cell);
  for (; cell != end; ++cell) {
    if (request.write) {
      counts.dram_sectors += cell->write < floor;
      counts.dram_reads += request.atomic && cell->write < floor && cell->read < floor;
    } else if (serial_of(cell->read) == serial_of(own)) {
      meet(counts.l2_sectors, MemoryLevel::kL2);  // bulk copies do not use the L1 cache
    } else if (cell->read >= floor || cell->write >= floor) {
      meet(counts.l2_sectors, MemoryLevel::kL2);
    } else {
      meet(counts.dram_sectors, MemoryLevel::kDram);
    }
    if (!region.writable) cell->read = own;
  }
  ++counts.global_requests;
  return level;
}

const Region& BlockMemory::find_bulk(const Request& request, unsigned lane, std::uint64_t address,
                                     std::uint32_t bytes) {
  const Region& region = find_global(request, lane, address);
  if (bytes > region.end - address) throw_outside_buffers({launch_, request, lane, region.end});
  return region;
}

MemoryLevel BlockMemory::read_bulk(const Request& request, unsigned lane, std::uint64_t address,
                                   std::span<std::byte> to) {
  const auto bytes = static_cast<std::uint32_t>(to.size());
  const Region& region = find_bulk(request, lane, address, bytes);
  const MemoryLevel level = count_bulk(request, region, address, bytes);
  for (std::uint64_t at = address; region.writable && at < address + bytes; at += request.bytes) {
    Conflict conflict;
    enter_global(request, lane, region, at, &conflict);
  }
  std::memcpy(to.data(), region.host + (address - region.begin), bytes);
  return level;
}

void BlockMemory::read_box(const Request& request, const TensorMap::Place& corner, BulkCopy* copy) {
  const TensorMap& map = *copy->map;
  std::vector<std::byte> box(copy->data.size());  // zeros outside of the tensor
  for (const TensorMap::Run& run : map.runs(corner)) {
    Request row = request;
    row.bytes = chunk_of(*copy, run);
    const MemoryLevel level =
        read_bulk(row, copy->lane, run.address, std::span(box).subspan(run.place, run.bytes));
    copy->level = std::max(copy->level, level);
  }
  for (std::uint32_t place = 0; place < copy->bytes(); place += kChunk) {
    std::memcpy(copy->data.data() + (map.swizzled(copy->offset, place) - copy->offset),
                box.data() + place, kChunk);
  }
}

void BlockMemory::begin_bulk_load(std::uint32_t barrier, BulkCopy copy) {
  Request word = request_of(copy, true);  // as faults name it
  word.bytes = 4;
  const SharedMemory::Store unseen =
      shared_.find_store(copy.offset, copy.bytes(), order_.block_begin(),
                         [&](Who store) { return !proxy_.sees(store, order_); });
  const Access access = access_of(word, copy.lane, true);
  for (std::uint32_t at = copy.offset; at < copy.offset + copy.bytes(); at += kChunk) {
    const SharedMemory::Outcome outcome = shared_.access(at, kChunk, access, order_);
    const Culprit culprit{launch_, word, copy.lane, at};
    if (outcome.copy_under_way) throw_copy_under_way(culprit, outcome.conflict);
    if (outcome.verdict != Verdict::kFine) throw_race(culprit, true, outcome.conflict);
    if (outcome.encounter) note_encounter(word, true, copy.lane, at);
  }
  if (unseen.who != 0) throw_unfenced({launch_, word, copy.lane, unseen.offset}, unseen.who);
  shared_.begin_copy(copy.offset, copy.bytes(), access.who);
  bulk_.begin_load(barrier, std::move(copy));
}

void BlockMemory::arrive(const BulkCopy& load) {
  std::memcpy(shared_.data() + load.offset, load.data.data(), load.data.size());
  shared_.end_copy(load.offset, load.bytes(), who(load.warp, load.lane) | kElsewhere);
}

void BlockMemory::begin_bulk_store(BulkCopy copy) {
  const Request request = request_of(copy, true);
  for (const TensorMap::Run& run : copy.runs) {
    Request row = request;
    row.bytes = chunk_of(copy, run);
    find_bulk(row, copy.lane, run.address, run.bytes);
  }
  check_async_read(request, copy.lane, copy.offset, copy.bytes());
  for (std::uint32_t place = 0; place < copy.bytes(); place += kChunk) {
    const std::uint32_t from =
        copy.map == nullptr ? copy.offset + place : copy.map->swizzled(copy.offset, place);
    std::memcpy(copy.data.data() + place, shared_.data() + from, kChunk);
  }
  shared_.begin_read(copy.offset, copy.bytes(), who(copy.warp, copy.lane));
  bulk_.begin_store(std::move(copy));
  while (bulk_.too_many_stores()) {
    const BulkCopy oldest = bulk_.take_store();
    if (oldest.reading) end_read(oldest);
    arrive_in_global(oldest);
  }
}

void BlockMemory::wait_for_stores(std::uint32_t thread, std::uint32_t pending, bool reads) {
  bulk_.wait(
      thread, pending, reads, [&](const BulkCopy& copy) { end_read(copy); },
      [&](const BulkCopy& copy) { arrive_in_global(copy); });
}

// Others that still read the same words go on.
void BlockMemory::end_read(const BulkCopy& store) {
  shared_.end_read(store.offset, store.bytes(), who(store.warp, store.lane));
  for (const BulkCopy& other : bulk_.stores()) {
    const std::uint32_t begin = std::max(other.offset, store.offset);
    const std::uint32_t end = std::min(other.offset + other.bytes(), store.offset + store.bytes());
    if (other.reading && begin < end)
      shared_.begin_read(begin, end - begin, who(other.warp, other.lane));
  }
}

void BlockMemory::arrive_in_global(const BulkCopy& store) {
  for (const TensorMap::Run& run : store.runs) arrive_in_global(store, run);
}

void BlockMemory::arrive_in_global(const BulkCopy& store, const TensorMap::Run& run) {
  Request request = request_of(store, true);
  if (store.combine == nullptr) request.bytes = chunk_of(store, run);
  const Region& region = *launch_.find(run.address, run.address + run.bytes);
  count_bulk(request, region, run.address, run.bytes);
  for (std::uint32_t i = 0; i < run.bytes; i += request.bytes) {
    const std::uint64_t address = run.address + i;
    const std::byte* const value = store.data.data() + run.place + i;
    Conflict conflict;
    const bool if_changed = enter_global(request, store.lane, region, address, &conflict);
    std::byte* const at = region.host + (address - region.begin);
    if (if_changed && (request.atomic || std::memcmp(at, value, request.bytes) != 0)) {
      throw_race({launch_, request, store.lane, address}, false, conflict);
    }
    if (store.combine != nullptr) {
      if (address % kSectorBytes == 0) launch_.count_atomics(address, 1);
      store.combine(at, value);
    } else {
      std::memcpy(at, value, request.bytes);
    }
  }
}

void BlockMemory::end_bulk_copies() {
  const auto fail = [&](const BulkCopy& copy) {
    const Request request = request_of(copy, false);
    throw_copy_outlives({launch_, request, copy.lane, copy.offset});
  };
  if (bulk_.any_load() != nullptr) fail(*bulk_.any_load());
  while (!bulk_.stores().empty()) {
    const BulkCopy copy = bulk_.take_store();
    if (copy.reading) fail(copy);
    arrive_in_global(copy);
  }
}

}  // namespace krl::machine
