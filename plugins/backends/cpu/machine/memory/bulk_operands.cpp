#include "plugins/backends/cpu/machine/memory/bulk_operands.hpp"

#include <algorithm>
#include <utility>

#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kLeastBytes = 16;  // a copy has a multiple of them
constexpr std::uint32_t kBankBytes = 128;  // all banks give them at a time

// Returns the offset that an address in shared memory has in the lane's own block.
std::uint64_t own_offset(const Instruction& i, BlockMemory& memory, unsigned lane,
                         std::uint64_t address) {
  if (memory.cluster() == nullptr || address >= kWindowBytes) return address;
  const std::uint32_t block = block_named_by(address);
  if (block == 0) return address;
  if (block == memory.rank() + 1) return static_cast<std::uint64_t>(offset_in_block(address));
  throw Fault{FaultKind::kUnsupported, "a bulk copy to or from another block of the cluster",
              i.line, static_cast<int>(lane)};
}

}  // namespace

void bind_bulk_copy(const ptx::Instruction& from, const ptx::Operand& address, ptx::Space space,
                    const ptx::Operand& shared, Operands& operands, Instruction* out) {
  bind_address(address, space, operands, out);
  if (out->extra[0] != 8) operands.unsupported(from);
  const Operands::Address place = operands.address(shared, ptx::Space::kShared);
  out->d = place.base;
  out->extra[0] = static_cast<std::uint8_t>(place.base_bytes);
  out->e = operands.short_offset(from, place);
}

void bind_bulk_barrier(const ptx::Instruction& from, const ptx::Operand& barrier,
                       Operands& operands, Instruction* out) {
  const Operands::Address place = operands.address(barrier, ptx::Space::kShared);
  out->access->rows[0] = place.base;
  out->access->rows[1] = operands.short_offset(from, place);
  out->access->register_bytes[0] = static_cast<std::uint8_t>(place.base_bytes);
}

BulkCopy bulk_copy_of(const Instruction& i, Warp& warp, const std::byte* frame, unsigned lane,
                      std::uint32_t bytes, std::uint32_t alignment) {
  BlockMemory& memory = warp.memory();
  const AddressRow places{frame + i.d, i.extra[0], static_cast<std::int32_t>(i.e)};
  const std::uint64_t offset = own_offset(i, memory, lane, places.of(lane));
  Request request = request_of(i, warp);
  request.write = i.access->kind == AccessKind::kCopy;
  request.bytes = std::max(bytes, kLeastBytes);
  const Culprit culprit{memory.launch(), request, lane, offset};
  const std::uint64_t size = memory.shared().bytes();
  if (offset > size || request.bytes > size - offset) throw_outside_shared(culprit);
  request.bytes = alignment;
  if (offset % alignment != 0) throw_misaligned(culprit);
  BulkCopy copy;
  copy.access = i.access;
  copy.line = i.line;
  copy.warp = warp.index();
  copy.lane = lane;
  copy.offset = static_cast<std::uint32_t>(offset);
  copy.data.resize(bytes);
  i.access->counts.shared_requests += bytes != 0;
  i.access->counts.wavefronts += (bytes + kBankBytes - 1) / kBankBytes;
  return copy;
}

void begin_bulk_load(const Instruction& i, Warp& warp, const std::byte* frame, unsigned lane,
                     BulkCopy copy) {
  BlockMemory& memory = warp.memory();
  Request request = request_of(i, warp);
  request.write = false;
  request.bytes = sizeof(std::uint64_t);
  request.strong = true;
  const AddressRow barriers{frame + i.access->rows[0], i.access->register_bytes[0],
                            static_cast<std::int32_t>(i.access->rows[1])};
  const std::uint64_t barrier = own_offset(i, memory, lane, barriers.of(lane));
  memory.check_shared(request, lane, barrier);
  const auto offset = static_cast<std::uint32_t>(barrier);
  Conflict conflict;
  memory.enter_shared(request, lane, {memory, offset}, &conflict);
  memory.begin_bulk_load(offset, std::move(copy));
}

}  // namespace krl::machine
