// Matrices in memory. Once the lanes have met, an access consists of ordinary parts: each lane
// finds its addresses, loads or stores its elements, and packs or unpacks elements that share a
// register but are not adjacent in memory.
#include <algorithm>
#include <cstring>

#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/memory/load_store.hpp"
#include "plugins/backends/cpu/machine/operations/matrix_instruction.hpp"
#include "plugins/backends/cpu/machine/operations/tensor.hpp"

namespace krl::machine {
namespace {

using Table = std::array<std::uint32_t, kLanes>;

std::uint64_t address_in(const Instruction& i, std::byte* frame, unsigned lane) {
  const std::uint64_t base = i.extra[0] == 8 ? row<const std::uint64_t>(frame, i.a)[lane]
                                             : row<const std::uint32_t>(frame, i.a)[lane];
  return base + static_cast<std::uint64_t>(i.immediate);
}

// d: addresses; a: the lanes' own addresses; b: elements between one row of memory and the next; c:
// rows of memory, e: bytes within one; extra[1]: bytes of an element.
void find_element(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const auto* stride = row<const std::uint32_t>(frame, i.b);
  const auto* outer = row<const std::uint32_t>(frame, i.c);
  const auto* inner = row<const std::uint32_t>(frame, i.e);
  set_lanes(row<std::uint64_t>(frame, i.d), mask, [&](unsigned lane) {
    return address_in(i, frame, lane) + std::uint64_t{outer[lane]} * stride[lane] * i.extra[1] +
           inner[lane];
  });
}

// d: addresses; a: the lanes' own addresses; c: whose address a lane takes; e: bytes beyond it.
void find_in_row(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const auto* whose = row<const std::uint32_t>(frame, i.c);
  const auto* beyond = row<const std::uint32_t>(frame, i.e);
  set_lanes(row<std::uint64_t>(frame, i.d), mask,
            [&](unsigned lane) { return address_in(i, frame, whose[lane]) + beyond[lane]; });
}

// d: a register that begins as a copy of a; or gets a's lowest bits shifted into place alongside
// its own.
void copy(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const auto* from = row<const std::uint32_t>(frame, i.a);
  set_lanes(row<std::uint32_t>(frame, i.d), mask, [&](unsigned lane) { return from[lane]; });
}
void insert(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  auto* to = row<std::uint32_t>(frame, i.d);
  const auto* from = row<const std::uint32_t>(frame, i.a);
  set_lanes(to, mask, [&](unsigned lane) { return to[lane] | from[lane] << i.immediate; });
}
void extract(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const auto* from = row<const std::uint32_t>(frame, i.a);
  set_lanes(row<std::uint32_t>(frame, i.d), mask,
            [&](unsigned lane) { return from[lane] >> i.immediate; });
}

// Transposes an 8 x 8 matrix of 16 bits, in which each lane has two columns of row lane / 4.
void transpose(const Instruction& i, Warp&, std::byte* frame, Mask mask) {
  const auto* from = row<const std::uint16_t>(frame, i.a);
  const auto element = [&](unsigned r, unsigned c) { return std::uint32_t{from[r * 8 + c]}; };
  set_lanes(row<std::uint32_t>(frame, i.d), mask, [&](unsigned lane) {
    const unsigned r = lane / 4, c = lane % 4 * 2;
    return element(c, r) | element(c + 1, r) << 16;
  });
}

Instruction part(Operation run, std::uint32_t d, std::uint32_t a, std::int64_t immediate = 0) {
  Instruction instruction;
  instruction.run = run;
  instruction.d = d;
  instruction.a = a;
  instruction.immediate = immediate;
  return instruction;
}

// The memory that an access to a matrix touches.
struct Place {
  ptx::Space space = ptx::Space::kGeneric;
  Operands::Address address;
  bool stores = false;
};

// A load or store of registers of `register_bytes` each, side by side in memory.
void access(const Place& place, std::uint32_t addresses, const std::uint32_t* rows, unsigned count,
            unsigned bytes, unsigned register_bytes, Operands& operands) {
  Instruction instruction;
  instruction.run =
      place.stores ? store_operation(bytes) : load_operation(bytes, register_bytes, false);
  instruction.kind = InstructionClass::kLoadStore;
  instruction.a = addresses;
  instruction.extra[0] = 8;
  instruction.extra[1] = static_cast<std::uint8_t>(place.space);
  instruction.access = operands.new_access();
  MemoryAccess& access = *instruction.access;
  access.kind = place.stores ? AccessKind::kStore : AccessKind::kLoad;
  access.elements = static_cast<std::uint8_t>(count);
  access.element_bytes = static_cast<std::uint8_t>(bytes);
  for (unsigned i = 0; i < count; ++i) {
    access.rows[i] = rows[i];
    access.register_bytes[i] = static_cast<std::uint8_t>(register_bytes);
  }
  operands.then(instruction);
}

void take_space(Modifiers& modifiers, ptx::Space* space) {
  if (modifiers.take("global")) *space = ptx::Space::kGlobal;
  if (modifiers.take("shared") || modifiers.take("shared::cta")) *space = ptx::Space::kShared;
}

// ---- wmma.load, wmma.store ----

struct MatrixAccess {
  Fragment fragment;
  bool by_rows = true;  // stored row by row
  Place place;
  std::uint32_t stride = 0;  // a row

  // Neighbours in a lane's registers are neighbours in memory.
  bool is_packed() const { return fragment.part == Part::kB ? !by_rows : by_rows; }
};

// Computes the addresses of element i of a register as a row.
std::uint32_t find(const MatrixAccess& matrix, unsigned reg, unsigned i, Operands& operands) {
  const Fragment::Place place = matrix.fragment.place(reg, i);
  const unsigned bits = bits_of(matrix.fragment.element);
  Table outer, inner;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned r = place.row_in(lane), c = place.column_in(lane);
    outer[lane] = matrix.by_rows ? r : c;
    inner[lane] = (matrix.by_rows ? c : r) * bits / 8;
  }
  Instruction instruction = part(find_element, operands.scratch(8), matrix.place.address.base,
                                 matrix.place.address.offset);
  instruction.b = matrix.stride;
  instruction.c = operands.table(outer);
  instruction.e = operands.table(inner);
  instruction.extra[0] = static_cast<std::uint8_t>(matrix.place.address.base_bytes);
  instruction.extra[1] = static_cast<std::uint8_t>(std::max(1u, bits / 8));
  operands.then(instruction);
  return instruction.d;
}

// Elements that fill a register, or two that fill two.
void access_packed(const MatrixAccess& matrix, const std::uint32_t* rows, Operands& operands) {
  const Element element = matrix.fragment.element;
  const unsigned bytes = register_bytes(element);
  const unsigned group = matrix.fragment.part == Part::kC && per_register(element) == 1 ? 2 : 1;
  std::vector<std::uint32_t> addresses;
  for (unsigned reg = 0; reg < matrix.fragment.registers(); reg += group) {
    addresses.push_back(find(matrix, reg, 0, operands));
  }
  for (unsigned reg = 0; reg < matrix.fragment.registers(); reg += group) {
    access(matrix.place, addresses[reg / group], rows + reg, group, bytes, bytes, operands);
  }
}

void access_elements(const MatrixAccess& matrix, const std::uint32_t* rows, Operands& operands) {
  const Element element = matrix.fragment.element;
  const unsigned per = per_register(element), bits = bits_of(element), bytes = bits / 8;
  const unsigned registers = matrix.fragment.registers();
  std::vector<std::uint32_t> addresses, values;
  for (unsigned n = 0; n < registers * per; ++n) {
    addresses.push_back(find(matrix, n / per, n % per, operands));
    values.push_back(per == 1 ? rows[n] : operands.scratch(4));
  }
  const bool stores = matrix.place.stores;
  for (unsigned n = 0; n < registers * per; ++n) {
    if (stores && per > 1) operands.then(part(extract, values[n], rows[n / per], n % per * bits));
    access(matrix.place, addresses[n], &values[n], 1, bytes, register_bytes(element), operands);
  }
  for (unsigned n = 0; !stores && per > 1 && n < registers * per; ++n) {
    operands.then(part(n % per == 0 ? copy : insert, rows[n / per], values[n], n % per * bits));
  }
}

std::optional<MatrixAccess> matrix_access_of(const ptx::Instruction& in) {
  Modifiers modifiers(in);
  MatrixAccess matrix;
  matrix.place.stores = modifiers.take("store");
  if (!matrix.place.stores && !modifiers.take("load")) return std::nullopt;
  Part which = Part::kC;
  if (matrix.place.stores) {
    if (!modifiers.take("d")) return std::nullopt;
  } else if (modifiers.take("a")) {
    which = Part::kA;
  } else if (modifiers.take("b")) {
    which = Part::kB;
  } else if (!modifiers.take("c")) {
    return std::nullopt;
  }
  if (!modifiers.take("sync") || !modifiers.take("aligned") ||
      !modifiers.take_layout(&matrix.by_rows)) {
    return std::nullopt;
  }
  const auto shape = modifiers.take_shape();
  take_space(modifiers, &matrix.place.space);
  const auto element = modifiers.take_element();
  if (!shape || !element || !modifiers.at_end()) return std::nullopt;
  matrix.fragment = shape->fragment(which, *element);
  const bool fits =
      which == Part::kC ? is_result_of_wmma(*shape, *element) : is_shape_of_wmma(*shape, *element);
  if (!fits || (bits_of(*element) == 4 && !matrix.is_packed())) return std::nullopt;
  return matrix;
}

// ---- ldmatrix, stmatrix ----

// Computes where lane l finds four bytes of matrix n: in row l / 4, whose address lane 8 n + l / 4
// has.
std::uint32_t find_row(const Place& place, unsigned n, Operands& operands) {
  Table whose, beyond;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    whose[lane] = 8 * n + lane / 4;
    beyond[lane] = lane % 4 * 4;
  }
  Instruction instruction =
      part(find_in_row, operands.scratch(8), place.address.base, place.address.offset);
  instruction.c = operands.table(whose);
  instruction.e = operands.table(beyond);
  instruction.extra[0] = static_cast<std::uint8_t>(place.address.base_bytes);
  operands.then(instruction);
  return instruction.d;
}

struct RowAccess {
  Place place;
  unsigned matrices = 0;
  bool transposed = false;
};

std::optional<RowAccess> row_access_of(const ptx::Instruction& in) {
  Modifiers modifiers(in);
  RowAccess rows;
  rows.place.stores = in.opcode == "stmatrix";
  if (!modifiers.take("sync") || !modifiers.take("aligned") || !modifiers.take("m8n8")) {
    return std::nullopt;
  }
  if (modifiers.take("x1")) rows.matrices = 1;
  if (modifiers.take("x2")) rows.matrices = 2;
  if (modifiers.take("x4")) rows.matrices = 4;
  rows.transposed = modifiers.take("trans");
  take_space(modifiers, &rows.place.space);
  if (!modifiers.take("b16") || !modifiers.at_end() || rows.matrices == 0) return std::nullopt;
  return rows;
}

}  // namespace

void decode_matrix_access(const ptx::Instruction& in, Operands& operands) {
  auto matrix = matrix_access_of(in);
  const std::size_t operand_count = in.operands.size();
  if (!matrix || operand_count < 2 || operand_count > 3) operands.unsupported(in);
  const bool stores = matrix->place.stores;
  const Fragment& fragment = matrix->fragment;
  matrix->place.address = operands.address(in.operands[stores ? 0 : 1], matrix->place.space);
  matrix->stride = operand_count == 3
                       ? operands.source(in.operands[2], ptx::Type::kU32)
                       : operands.constant(matrix->by_rows ? fragment.columns : fragment.rows, 4);
  RowOffsets rows{};
  const std::size_t count = add_rows(in, in.operands[stores ? 1 : 0], fragment,
                                     stores ? Use::kRead : Use::kWritten, operands, rows.data());
  if (matrix->is_packed()) {
    access_packed(*matrix, rows.data(), operands);
  } else {
    access_elements(*matrix, rows.data(), operands);
  }
  if (stores) return;
  for (std::size_t i = fragment.registers(); i < count; ++i) {
    operands.then(part(copy, rows[i], rows[i % fragment.registers()]));
  }
}

void decode_row_access(const ptx::Instruction& in, Operands& operands) {
  auto rows = row_access_of(in);
  if (!rows || in.operands.size() != 2) operands.unsupported(in);
  Place& place = rows->place;
  const unsigned matrices = rows->matrices;
  place.address = operands.address(in.operands[place.stores ? 0 : 1], place.space);
  RowOffsets registers{};
  const Fragment fragment = {Part::kA, 8 * matrices, 8, Element::kF16};
  add_rows(in, in.operands[place.stores ? 1 : 0], fragment,
           place.stores ? Use::kRead : Use::kWritten, operands, registers.data());
  std::vector<std::uint32_t> addresses;
  for (unsigned n = 0; n < matrices; ++n) addresses.push_back(find_row(place, n, operands));
  for (unsigned n = 0; n < matrices; ++n) {
    const std::uint32_t value = rows->transposed ? operands.scratch(4) : registers[n];
    if (rows->transposed && place.stores) operands.then(part(transpose, value, registers[n]));
    access(place, addresses[n], &value, 1, 4, 4, operands);
    if (rows->transposed && !place.stores) operands.then(part(transpose, registers[n], value));
  }
}

void decode_transposition(const ptx::Instruction& in, Operands& operands) {
  if (in.full_name() != "movmatrix.sync.aligned.m8n8.trans.b16" || in.operands.size() != 2) {
    operands.unsupported(in);
  }
  const std::uint32_t from = operands.source(in.operands[1], ptx::Type::kB32);
  operands.then(part(transpose, operands.destination(in.operands[0], ptx::Type::kB32), from));
}

}  // namespace krl::machine
