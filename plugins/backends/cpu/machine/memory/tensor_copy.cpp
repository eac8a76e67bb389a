// cp.async.bulk.tensor: copies of a box of a tensor between global memory and shared memory of the own
// block, each of which one thread begins.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "plugins/backends/cpu/machine/memory/bulk_operands.hpp"
#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kAlignment = 128;  // where a box begins in shared memory

// The address of an instruction is that of the map. extra[2] coordinates are rows[2], … of the access, the
// innermost first.
constexpr std::size_t kFirstCoordinate = 2;

const TensorMap& map_of(const Instruction& i, Warp& warp, std::byte* frame, unsigned lane,
                        std::size_t rank) {
  const std::uint64_t address = AddressRow{frame + i.a, 8, i.immediate}.of(lane);
  const TensorMap* const map = warp.memory().launch().tensor_map_at(address - kParameterWindow);
  if (map == nullptr) {
    throw Fault{FaultKind::kIllegalAddress,
                "no tensor map is there: make one by @tensor_map, and take it as a parameter "
                "`const __grid_constant__ CUtensorMap`",
                i.line, static_cast<int>(lane)};
  }
  if (map->rank() == rank) return *map;
  if (map->rank() == 0) {
    throw Fault{
        FaultKind::kIllegalAddress,
        "a copy by a tensor map whose rows are no multiple of 16 bytes: such a tensor has none",
        i.line, static_cast<int>(lane)};
  }
  throw Fault{FaultKind::kIllegalAddress,
              "a copy with " + std::to_string(rank) + " coordinates by a tensor map of " +
                  std::to_string(map->rank()),
              i.line, static_cast<int>(lane)};
}

// The copy of a lane, without data yet, and the corner of its box.
std::pair<BulkCopy, TensorMap::Place> copy_of(const Instruction& i, Warp& warp, std::byte* frame,
                                              unsigned lane) {
  const TensorMap& map = map_of(i, warp, frame, lane, i.extra[2]);
  TensorMap::Place corner{};
  for (std::size_t d = 0; d < i.extra[2]; ++d)
    corner[d] = row<std::int32_t>(frame, i.access->rows[kFirstCoordinate + d])[lane];
  BulkCopy copy = bulk_copy_of(i, warp, frame, lane, map.box_bytes(), kAlignment);
  copy.map = &map;
  return {std::move(copy), corner};
}

void begin_loads(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    auto [copy, corner] = copy_of(i, warp, frame, lane);
    Request request = request_of(i, warp);
    request.write = false;
    warp.memory().read_box(request, corner, &copy);
    begin_bulk_load(i, warp, frame, lane, std::move(copy));
  }
  warp.polls().work(1);
}

void begin_stores(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    auto [copy, corner] = copy_of(i, warp, frame, static_cast<unsigned>(std::countr_zero(rest)));
    copy.runs = copy.map->runs(corner);
    warp.memory().begin_bulk_store(std::move(copy));
  }
  warp.polls().work(1);
}

// `tensor`: [map, {coordinates}]; `shared`: where the box is.
void bind(const ptx::Instruction& from, const ptx::Operand& tensor, const ptx::Operand& shared,
          std::size_t rank, Operands& operands, Instruction* out) {
  const bool has_coordinates = tensor.kind == ptx::Operand::kAddress &&
                               tensor.elements.size() == 2 &&
                               tensor.elements[1].elements.size() == rank;
  if (!has_coordinates) operands.unsupported(from);
  MemoryAccess& access = *out->access;
  access.element_bytes = 16;
  bind_bulk_copy(from, tensor, ptx::Space::kGeneric, shared, operands, out);
  for (std::size_t d = 0; d < rank; ++d)
    access.rows[kFirstCoordinate + d] =
        operands.source(tensor.elements[1].elements[d], ptx::Type::kS32);
  out->extra[2] = static_cast<std::uint8_t>(rank);
}

}  // namespace

bool decode_tensor_copy(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  if (from.opcode != "cp" || !from.has("tensor")) return false;
  std::vector<std::string> names = from.modifiers;
  std::erase(names, "tile");
  const bool policy = std::erase(names, "L2::cache_hint") != 0;
  const bool loads =
      names.size() == 7 && (names[4] == "shared::cluster" || names[4] == "shared::cta");
  const std::vector<std::string> ends =
      loads ? std::vector<std::string>{names[4], "global", "mbarrier::complete_tx::bytes"}
            : std::vector<std::string>{"global", "shared::cta", "bulk_group"};
  const std::vector<std::string> begins = {"async", "bulk", "tensor"};
  const bool known = names.size() == 7 && std::equal(begins.begin(), begins.end(), names.begin()) &&
                     std::equal(ends.begin(), ends.end(), names.begin() + 4) &&
                     names[3].size() == 2 && names[3][1] == 'd' && names[3][0] >= '1' &&
                     names[3][0] <= '5';
  if (!known || from.operands.size() != (loads ? 3u : 2u) + policy) operands.unsupported(from);
  const auto rank = static_cast<std::size_t>(names[3][0] - '0');
  out->kind = InstructionClass::kLoadStore;
  out->access = operands.new_access();
  out->access->kind = loads ? AccessKind::kCopy : AccessKind::kStore;
  if (!loads) {
    bind(from, from.operands[0], from.operands[1], rank, operands, out);
    out->run = begin_stores;
    return true;
  }
  bind(from, from.operands[1], from.operands[0], rank, operands, out);
  bind_bulk_barrier(from, from.operands[2], operands, out);
  out->run = begin_loads;
  return true;
}

}  // namespace krl::machine
