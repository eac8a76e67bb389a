// ld, ldu, st: of every space.
#include <cstring>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/memory/load_store.hpp"
#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

bool is_signed(ptx::Type type) {
  return type == ptx::Type::kS8 || type == ptx::Type::kS16 || type == ptx::Type::kS32 ||
         type == ptx::Type::kS64;
}

// The registers of a load, or the values of a store.
std::vector<ptx::Operand> elements_of(const ptx::Operand& operand) {
  if (operand.kind == ptx::Operand::kVector) return operand.elements;
  return {operand};
}

constexpr std::uint32_t kNoWidth = ~0u;

// Bytes of the registers of a load; 0: all are "_"; kNoWidth: they differ, or are predicates.
std::uint32_t bind_destinations(const std::vector<ptx::Operand>& registers, Operands& operands,
                                MemoryAccess* access) {
  std::uint32_t bytes = 0;
  for (std::size_t k = 0; k < registers.size(); ++k) {
    const std::uint32_t width = operands.width(registers[k]);
    access->rows[k] = operands.destination_any(registers[k]);
    access->register_bytes[k] = static_cast<std::uint8_t>(width);
    if (access->rows[k] == 0) continue;
    bytes = width != 0 && (bytes == 0 || bytes == width) ? width : kNoWidth;
  }
  return bytes;
}

void bind_sources(const std::vector<ptx::Operand>& values, ptx::Type type, Operands& operands,
                  MemoryAccess* access) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::uint32_t width = operands.width(values[k]);
    const bool is_register = values[k].kind == ptx::Operand::kRegister;
    access->rows[k] =
        is_register ? operands.source_any(values[k]) : operands.source(values[k], type);
    access->register_bytes[k] = static_cast<std::uint8_t>(is_register ? width : ptx::size_of(type));
  }
}

// A load of parameters has extra[0] = 0 for those of an entry, the same for all lanes; otherwise
// d, e: the slot that is in the frame. immediate: offset in the slot or the entry's parameters.
const std::byte* entry_parameter(const Instruction& i, Warp& warp, std::uint32_t bytes) {
  const auto parameters = warp.memory().launch().parameters();
  const auto offset = static_cast<std::uint64_t>(i.immediate);
  if (offset > parameters.size() || bytes > parameters.size() - offset) {
    throw Fault{FaultKind::kIllegalAddress, "a load past the end of the kernel's parameters",
                i.line, -1};
  }
  return parameters.data() + offset;
}

const std::byte* parameter_at(const Instruction& i, Warp& warp, std::byte* frame, unsigned lane) {
  if (i.extra[0] == 0) return entry_parameter(i, warp, i.access->lane_bytes());
  return frame + i.d + lane * i.e + i.immediate;
}

// Sign or zero extension of up to 8 bytes.
std::uint64_t extended(std::uint64_t bits, std::uint32_t bytes, bool with_sign) {
  if (bytes >= 8) return bits;
  const unsigned unused = 64 - 8 * bytes;
  bits <<= unused;
  return with_sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
                   : bits >> unused;
}

void load_parameter(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  const MemoryAccess& access = *i.access;
  for (std::uint32_t k = 0; k < access.elements; ++k) {
    if (access.rows[k] == 0) continue;
    const std::uint32_t bytes = access.register_bytes[k];
    for (Mask rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::byte* const from = parameter_at(i, warp, frame, lane) + k * access.element_bytes;
      std::byte* const to = frame + access.rows[k] + lane * bytes;
      if (bytes == access.element_bytes) {
        std::memcpy(to, from, bytes);
        continue;
      }
      std::uint64_t bits = 0;
      std::memcpy(&bits, from, access.element_bytes);
      bits = extended(bits, access.element_bytes, i.extra[1] != 0);
      std::memcpy(to, &bits, bytes);
    }
  }
}

// Loads one element as wide as its register, the same for all lanes: most of an entry's parameters
// are like this.
template <class T>
void load_entry_parameter(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  T value;
  std::memcpy(&value, entry_parameter(i, warp, sizeof value), sizeof value);
  set_lanes(row<T>(frame, i.access->rows[0]), mask, [=](unsigned) { return value; });
}

void store_parameter(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const MemoryAccess& access = *i.access;
  for (std::uint32_t k = 0; k < access.elements; ++k) {
    for (Mask rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      std::memcpy(frame + i.d + lane * i.e + i.immediate + k * access.element_bytes,
                  frame + access.rows[k] + lane * access.register_bytes[k], access.element_bytes);
    }
  }
}

Operation entry_parameter_load(std::uint32_t bytes) {
  return bytes == 2   ? load_entry_parameter<std::uint16_t>
         : bytes == 4 ? load_entry_parameter<std::uint32_t>
         : bytes == 8 ? load_entry_parameter<std::uint64_t>
                      : load_parameter;
}

void decode_parameter(const ptx::Instruction& from, const Operands::Parameter& parameter,
                      bool is_load, Operands& operands, Instruction* out) {
  const MemoryAccess& access = *out->access;
  const std::int64_t end = parameter.of_entry ? INT64_MAX : parameter.bytes;
  if (parameter.offset < 0 || parameter.offset > end - access.lane_bytes() ||
      (!is_load && parameter.of_entry)) {
    operands.unsupported(from);
  }
  out->kind = InstructionClass::kLoadStore;
  out->immediate = parameter.offset;
  out->d = parameter.slot.offset;
  out->e = parameter.slot.bytes;
  out->extra[0] = parameter.of_entry ? 0 : 1;
  for (std::uint32_t k = 0; k < access.elements; ++k) {
    const bool fits =
        access.rows[k] == 0 || (access.register_bytes[k] >= access.element_bytes &&
                                (access.register_bytes[k] <= 8 || access.element_bytes == 16));
    if (!fits) operands.unsupported(from);
  }
  const bool simple = parameter.of_entry && access.elements == 1 && access.rows[0] != 0 &&
                      access.register_bytes[0] == access.element_bytes;
  out->run = !is_load ? store_parameter
             : simple ? entry_parameter_load(access.element_bytes)
                      : load_parameter;
}

MemoryAccess* new_access(const MemoryModifiers& modifiers, bool is_load, Operands& operands) {
  MemoryAccess* const access = operands.new_access();
  access->kind = is_load ? AccessKind::kLoad : AccessKind::kStore;
  access->strong = modifiers.strong;
  access->block_scope = modifiers.block_scope;
  access->read_only = modifiers.read_only;
  access->past_l1 = modifiers.past_l1;
  access->own_block = modifiers.space == ptx::Space::kShared;
  access->elements = static_cast<std::uint8_t>(modifiers.elements);
  access->element_bytes = static_cast<std::uint8_t>(ptx::size_of(modifiers.type));
  return access;
}

// Reports whether the machine has this access to memory, whose registers are bound.
bool is_supported(const MemoryAccess& access, const MemoryModifiers& modifiers, bool is_load) {
  for (std::uint32_t k = 0; k < access.elements && !is_load; ++k) {
    if (access.register_bytes[k] < access.element_bytes) return false;
  }
  const bool wide_shared =
      access.lane_bytes() > kMostSharedLaneBytes && modifiers.space != ptx::Space::kGlobal;
  return !wide_shared && !(is_load ? modifiers.release : modifiers.acquire);
}

}  // namespace

bool decode_load_store(const ptx::Instruction& from, Operands& operands, Instruction* out) {
  const bool is_load = from.opcode == "ld" || from.opcode == "ldu";
  if (!is_load && from.opcode != "st") return false;
  MemoryModifiers modifiers = read_modifiers(from, operands);
  const std::size_t count = modifiers.cache_policy ? 3 : 2;
  if (from.operands.size() != count || !modifiers.others.empty()) operands.unsupported(from);
  const ptx::Operand& address = from.operands[is_load ? 1 : 0];
  const auto values = elements_of(from.operands[is_load ? 0 : 1]);
  const std::size_t bytes = ptx::size_of(modifiers.type);
  if (bytes == 0 || values.size() != modifiers.elements ||
      bytes * modifiers.elements > kMostLaneBytes) {
    operands.unsupported(from);
  }
  out->kind = InstructionClass::kLoadStore;
  out->access = new_access(modifiers, is_load, operands);
  MemoryAccess& access = *out->access;
  std::uint32_t width = 0;
  if (is_load) {
    width = bind_destinations(values, operands, &access);
    out->extra[1] = is_signed(modifiers.type);
  } else {
    bind_sources(values, modifiers.type, operands, &access);
  }
  if (modifiers.space == ptx::Space::kParameter) {
    if (const auto parameter = operands.parameter(address); parameter.found) {
      decode_parameter(from, parameter, is_load, operands, out);
      return true;
    }
    // Through a register: an address in the entry's parameters.
  }
  const bool with_sign = out->extra[1] != 0;
  bind_address(address, modifiers.space, operands, out);
  out->extra[2] = modifiers.fence().bits;
  const auto element = static_cast<std::uint32_t>(bytes);
  out->run = is_load
                 ? load_operation(element, width == 0 ? std::max(2u, element) : width, with_sign)
                 : store_operation(element);
  if (out->run == nullptr || !is_supported(access, modifiers, is_load)) operands.unsupported(from);
  return true;
}

}  // namespace krl::machine
