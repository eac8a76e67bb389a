// Accesses to global memory: finds the buffer and the sectors, and checks them against the shadow.
#include <bit>
#include <cstring>
#include <utility>

#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/faults.hpp"

namespace krl::machine {

// An access that has been checked, and the cells of its sectors.
struct BlockMemory::Sectors {
  const Request& request;
  const LaneAddresses& addresses;
  const SectorShape& shape;
  const Region& region;
  Cell* first;                             // cell of the first address's sector
  std::uint32_t* written;                  // … in Region::written
  Record own;                              // serial, stamp and warp of the access
  Record floor;                            // lowest record of the launch
  std::uint32_t l1 = 0, l2 = 0, dram = 0;  // sectors of each level

  Cell& cell(std::uint32_t index) const { return first[shape.sector[index]]; }
  // Before a sector is remembered: where it is.
  void count(const Cell& cell) {
    if (request.write) {
      dram += cell.write < floor;
    } else if (serial_of(cell.read) == serial_of(own)) {
      ++l1;
    } else if (cell.read >= floor || cell.write >= floor) {
      ++l2;
    } else {
      ++dram;
    }
  }
};

Region& BlockMemory::find_global(const Request& request, unsigned lane, std::uint64_t address) {
  const Culprit culprit{launch_, request, lane, address};
  Region* region = launch_.find(address, address + request.bytes);
  if (region == nullptr) throw_outside_buffers(culprit);
  if (request.write && !region->writable) throw_not_writable(culprit, *region);
  if (address % request.bytes != 0) throw_misaligned(culprit);
  return *region;
}

std::byte* BlockMemory::access_global(const Request& request, const LaneAddresses& addresses,
                                      const Shape** found) {
  MemoryAccess& access = request.access;
  const SectorShape& shape = access.shapes.sectors(addresses, request.bytes);
  const std::uint64_t from = addresses.first - static_cast<std::uint64_t>(shape.below);
  const std::uint64_t to = addresses.first + static_cast<std::uint64_t>(shape.above);
  Region* region = access.region;
  if (region == nullptr || from < region->begin || to > region->end || from > to) [[unlikely]] {
    region = launch_.find(from, to);
    if (region == nullptr) return nullptr;
    access.region = region;
  }
  const bool aligned = (addresses.first & (request.bytes - 1)) == 0 && shape.misaligned_lane < 0;
  if (!aligned || (request.write && !region->writable)) [[unlikely]] {
    for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::int64_t delta = addresses.delta[lane];
      find_global(request, lane, addresses.first + static_cast<std::uint64_t>(delta));
    }
  }
  *found = &shape;
  const Who now = present(request.warp);
  const std::uint64_t sector = (addresses.first - region->begin) / kSectorBytes;
  Sectors sectors{request,
                  addresses,
                  shape,
                  *region,
                  region->shadow + sector,
                  region->written == nullptr ? nullptr : region->written + sector,
                  Record{order_.serial()} << kSerialShift | now,
                  launch_.shadow().launch_floor()};
  touch(sectors);
  count(sectors);
  return region->host + (addresses.first - region->begin);
}

void BlockMemory::count(Sectors& sectors) {
  const Request& request = sectors.request;
  const SectorShape& shape = sectors.shape;
  // L1 does not show what other SMs write.
  if (request.strong && !request.write) sectors.l2 += std::exchange(sectors.l1, 0);
  AccessCounts& counts = request.access.counts;
  ++counts.global_requests;
  counts.sectors += shape.count;
  counts.needed_sectors += shape.needed;
  counts.dram_sectors += sectors.dram;
  counts.l2_sectors += sectors.l2;
  counts.l1_sectors += sectors.l1;
  if (!request.write) {
    path(request.warp)
        .load(sectors.dram != 0 ? MemoryLevel::kDram
              : sectors.l2 != 0 ? MemoryLevel::kL2
                                : MemoryLevel::kL1,
              request.access);
  }
}

void BlockMemory::touch(Sectors& sectors) {
  const SectorShape& shape = sectors.shape;
  const Request& request = sectors.request;
  if (!sectors.region.writable) {  // no one writes it: there is no race
    for (std::uint32_t i = 0; i < shape.count; i += 4) {
      const std::uint32_t count = std::min(4u, shape.count - i);
      if (shape.consecutive) {
        read_four(sectors, i, count);
        continue;
      }
      for (std::uint32_t k = i; k < i + count; ++k) {
        sectors.count(sectors.cell(k));
        sectors.cell(k).read = sectors.own;
      }
    }
    return;
  }
  const bool simple = shape.whole && !request.strong && !(request.write && shape.overlapping);
  if (!simple) {
    for (std::uint32_t i = 0; i < shape.count; ++i) {
      sectors.count(sectors.cell(i));
      touch_by_lane(sectors, shape.sector[i]);
    }
    return;
  }
  if (sectors.written != nullptr) touch_bytes(sectors);
  for (std::uint32_t i = 0; i < shape.count; i += 4) {
    const std::uint32_t count = std::min(4u, shape.count - i);
    if (shape.consecutive && touch_four(sectors, i, count)) continue;
    for (std::uint32_t k = i; k < i + count; ++k) touch_sector(sectors, k);
  }
}

// Whole sectors of a buffer that began without values.
void BlockMemory::touch_bytes(Sectors& sectors) {
  const SectorShape& shape = sectors.shape;
  const auto of_sector = [&](std::uint32_t i) { return sectors.written + shape.sector[i]; };
  if (sectors.request.write) {
    for (std::uint32_t i = 0; i < shape.count; ++i) *of_sector(i) = kAllBytes;
    return;
  }
  std::uint32_t all = kAllBytes;
  for (std::uint32_t i = 0; i < shape.count; ++i) all &= *of_sector(i);
  if (all == kAllBytes) return;
  for (Mask rest = sectors.addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t delta = sectors.addresses.delta[lane];
    touch_bytes(sectors.request, lane, sectors.region,
                sectors.addresses.first + static_cast<std::uint64_t>(delta));
  }
}

// Touches one lane's bytes. Among several bytes, unwritten ones may be padding that is loaded along
// with the rest.
void BlockMemory::touch_bytes(const Request& request, unsigned lane, const Region& region,
                              std::uint64_t address) {
  std::uint32_t& written = region.written[(address - region.begin) / kSectorBytes];
  const std::uint32_t bytes = bits_of_bytes(address, request.bytes);
  const std::uint32_t known = written & bytes;
  if (request.changes() ? known != bytes : !request.write && known == 0) {
    throw_uninitialised({launch_, request, lane, address}, ptx::Space::kGlobal);
  }
  if (request.write) written |= bytes;
}

// Up to four sectors side by side that no one writes.
void BlockMemory::read_four(Sectors& sectors, std::uint32_t index, std::uint32_t count) {
  Cell* const cells = &sectors.cell(index);
  for (std::uint32_t i = 0; i < count; ++i) {
    sectors.count(cells[i]);
    cells[i].read = sectors.own;
  }
}

// Up to four sectors side by side of which nothing is known in this launch, or that this very
// access touched before; false, if one of them needs a closer look: nothing has happened then.
bool BlockMemory::touch_four(Sectors& sectors, std::uint32_t index, std::uint32_t count) {
  Cell* const cells = &sectors.cell(index);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record own = sectors.own | sectors.shape.who[index + i];
    const auto fine = [&](Record known) { return known < sectors.floor || known == own; };
    if (!fine(cells[i].write) || !fine(cells[i].read)) return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record own = sectors.own | sectors.shape.who[index + i];
    sectors.count(cells[i]);
    (sectors.request.write ? cells[i].write : cells[i].read) = own;
  }
  return true;
}

// A plain access to a whole sector, one element after the other.
void BlockMemory::touch_sector(Sectors& sectors, std::uint32_t index) {
  Cell& cell = sectors.cell(index);
  const Request& request = sectors.request;
  const Record who = sectors.shape.who[index];
  sectors.count(cell);
  // Lanes of the same warp that nothing orders, and that may have touched other elements.
  const auto differs = [&](Record known) {
    constexpr Record kWhere = ~Record{first_of_stamp(kStamps - 1)};
    return known >= sectors.floor && serial_of(known) == order_.serial() &&
           same_warp(who_of(known), who_of(sectors.own)) &&
           who_of(known) >= order_.last_meeting(request.warp) &&
           ((known ^ (sectors.own | who)) & kWhere) != 0;
  };
  if (launch_.shadow().is_split(cell) || differs(cell.write) ||
      (request.write && differs(cell.read))) {
    return touch_by_lane(sectors, sectors.shape.sector[index]);
  }
  Access access{who_of(sectors.own | who), request.write, false};
  access.read_only = request.access.read_only;
  Conflict conflict;
  const Verdict verdict = order_.judge(cell, access, &conflict);
  if (verdict != Verdict::kFine) return touch_by_lane(sectors, sectors.shape.sector[index]);
  const Record met = request.write ? cell.write | cell.read : cell.write;
  if (met >= sectors.floor && order_.encounters(cell, access)) [[unlikely]] {
    const std::uint64_t first = sectors.addresses.first / kSectorBytes;
    const auto sector = static_cast<std::uint64_t>(std::int64_t{sectors.shape.sector[index]});
    note_encounter(request, false, 0, (first + sector) * kSectorBytes);
  }
  order_.remember(&cell, access, verdict, who & ~Record{0xffffffff});
}

// Handles the lanes that touch one sector, one after the other. Stores are made at once, because
// each may have to keep bytes that the one before stored.
void BlockMemory::touch_by_lane(Sectors& sectors, std::int32_t sector) {
  const Request& request = sectors.request;
  const LaneAddresses& addresses = sectors.addresses;
  alignas(16) std::byte value[kMostLaneBytes];
  const auto phase = static_cast<std::int64_t>(addresses.first % kSectorBytes);
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t delta = addresses.delta[lane];
    if ((phase + delta) >> 5 != sector) continue;
    const std::uint64_t address = addresses.first + static_cast<std::uint64_t>(delta);
    Conflict conflict;
    const bool if_changed = enter_global(request, lane, sectors.region, address, &conflict);
    if (request.values == nullptr) continue;
    request.values->copy(lane, value);
    std::byte* const at = sectors.region.host + (address - sectors.region.begin);
    if (if_changed && std::memcmp(at, value, request.bytes) != 0) {
      throw_race({launch_, request, lane, address}, false, conflict);
    }
    std::memcpy(at, value, request.bytes);
  }
}

void BlockMemory::note_encounter(const Request& request, bool shared, unsigned lane,
                                 std::uint64_t address) {
  if (!launch_.is_new_encounter(request.line)) return;
  launch_.add_encounter({0, request.line, place_of({launch_, request, lane, address}, shared)});
}

void BlockMemory::count_update(AccessCounts& counts, const Region& region, std::uint64_t address) {
  const Cell& sector = region.shadow[(address - region.begin) / kSectorBytes];
  const Record floor = launch_.shadow().launch_floor();
  if (sector.write >= floor) return;
  ++counts.dram_sectors;
  counts.dram_reads += sector.read < floor ? 1 : 0;
}

bool BlockMemory::enter_global(const Request& request, unsigned lane, const Region& region,
                               std::uint64_t address, Conflict* conflict) {
  if (!region.writable) return false;
  if (region.written != nullptr) touch_bytes(request, lane, region, address);
  GlobalShadow& shadow = launch_.shadow();
  Cell& sector = region.shadow[(address - region.begin) / kSectorBytes];
  const FineCells cells = shadow.split(&sector, request.bytes < 4);
  const Access access = access_of(request, lane, false);
  GlobalShadow::touch(request.write ? &sector.write : &sector.read, order_.serial());
  held_ |= request.line == launch_.held_line();
  bool if_changed = false;
  const Record write = cells.of(address).write;
  for (std::uint64_t at = address; at < address + request.bytes; at += cells.bytes) {
    Cell& cell = cells.of(at);
    Conflict with;
    Verdict verdict = order_.judge(cell, access, &with);
    const bool races = verdict == Verdict::kRace || verdict == Verdict::kIfChanged;
    const bool repeats = races && launch_.redundant_threads() && !with.other_block &&
                         !request.strong && !(request.write && with.other_wrote);
    if (repeats)
      verdict = Verdict::kFine;  // unless other orders, which are tried, change something
    if (verdict == Verdict::kRace) throw_race({launch_, request, lane, address}, false, with);
    if (repeats || order_.encounters(cell, access)) [[unlikely]]
      note_encounter(request, false, lane, address);
    if (verdict == Verdict::kIfChanged) {
      if_changed = true;
      *conflict = with;
    }
    order_.remember(&cell, access, verdict);
  }
  if (request.may_be_old && show_old(request, region, address, access, write)) return false;
  if (request.strong && request.write) keep_old(request, region, address, access);
  // A load past the L1 cache is as good as a strong one: __ldcg waits for flags in much code.
  if (request.strong || request.access.past_l1) synchronise(address, request.bytes, access);
  return if_changed;
}

Access BlockMemory::access_of(const Request& request, unsigned lane, bool shared) {
  const MemoryAccess& form = request.access;
  Access access{present(request.warp) | lane << kLaneShift | (request.strong ? kStrong : 0),
                request.write,
                shared,
                request.atomic,
                form.reduces,
                request.changes()};
  if (form.block_scope) access.scope = Scope::kBlock;
  access.read_only = form.read_only;
  return access;
}

void BlockMemory::synchronise(std::uint64_t address, std::uint32_t bytes, const Access& access) {
  for (std::uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
    order_.synchronise(word, access);
  }
}

}  // namespace krl::machine
