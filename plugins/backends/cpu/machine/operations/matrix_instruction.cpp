#include "plugins/backends/cpu/machine/operations/matrix_instruction.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "plugins/backends/cpu/machine/fault.hpp"

namespace krl::machine {
namespace {

struct NamedElement {
  std::string_view name;
  Element element;
};
constexpr NamedElement kElements[] = {
    {"f16", Element::kF16},   {"bf16", Element::kBF16}, {"tf32", Element::kTF32},
    {"e4m3", Element::kE4M3}, {"e5m2", Element::kE5M2}, {"s4", Element::kS4},
    {"u4", Element::kU4},     {"s8", Element::kS8},     {"u8", Element::kU8},
    {"s32", Element::kS32},   {"f32", Element::kF32},   {"f64", Element::kF64},
};

constexpr std::pair<std::string_view, MatrixShape> kShapes[] = {
    {"m8n8k4", {8, 8, 4}},       {"m8n8k16", {8, 8, 16}},   {"m8n8k32", {8, 8, 32}},
    {"m16n8k4", {16, 8, 4}},     {"m16n8k8", {16, 8, 8}},   {"m16n8k16", {16, 8, 16}},
    {"m16n8k32", {16, 8, 32}},   {"m16n8k64", {16, 8, 64}}, {"m16n16k8", {16, 16, 8}},
    {"m16n16k16", {16, 16, 16}}, {"m32n8k16", {32, 8, 16}}, {"m8n32k16", {8, 32, 16}},
};

}  // namespace

std::optional<MatrixShape> shape_named(std::string_view name) {
  for (const auto& [known, shape] : kShapes) {
    if (known == name) return shape;
  }
  return std::nullopt;
}

std::optional<Element> element_named(std::string_view name) {
  for (const NamedElement& known : kElements) {
    if (known.name == name) return known.element;
  }
  return std::nullopt;
}

bool is_shape_of_mma(const MatrixShape& shape, Element element) {
  const bool large = shape.m == 16 && shape.n == 8, small = shape.m == 8 && shape.n == 8;
  switch (bits_of(element)) {
    case 4:
      return (large && (shape.k == 32 || shape.k == 64)) || (small && shape.k == 32);
    case 8: {
      const bool floating = element == Element::kE4M3 || element == Element::kE5M2;
      return (large && (shape.k == 16 || shape.k == 32)) || (!floating && small && shape.k == 16);
    }
    case 16:
      return large && (shape.k == 8 || shape.k == 16);
    case 32:
      return large && (shape.k == 4 || shape.k == 8);
    default:
      return (large && shape.k <= 16) || (small && shape.k == 4);
  }
}

bool is_shape_of_wmma(const MatrixShape& shape, Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kBF16:
    case Element::kS8:
    case Element::kU8:
      return shape.m * shape.n == 256 && shape.k == 16;
    case Element::kTF32:
      return shape == MatrixShape{16, 16, 8};
    case Element::kS4:
    case Element::kU4:
      return shape == MatrixShape{8, 8, 32};
    case Element::kF64:
      return shape == MatrixShape{8, 8, 4};
    default:
      return false;
  }
}

bool is_result_of_wmma(const MatrixShape& shape, Element element) {
  switch (element) {
    case Element::kF16:
      return is_shape_of_wmma(shape, Element::kF16);
    case Element::kF32:
      return is_shape_of_wmma(shape, Element::kF16) || is_shape_of_wmma(shape, Element::kTF32);
    case Element::kS32:
      return is_shape_of_wmma(shape, Element::kS8) || is_shape_of_wmma(shape, Element::kS4);
    default:
      return is_shape_of_wmma(shape, element) && element == Element::kF64;
  }
}

std::size_t add_rows(const ptx::Instruction& instruction, const ptx::Operand& operand,
                     const Fragment& fragment, Use use, Operands& operands, std::uint32_t* to) {
  const ptx::Operand* elements = &operand;
  std::size_t count = 1;
  if (operand.kind == ptx::Operand::kVector) {
    elements = operand.elements.data();
    count = operand.elements.size();
  }
  if (count == 0 || count > 8 || count % fragment.registers() != 0) {
    operands.unsupported(instruction);
  }
  const auto type = fragment.element == Element::kF64 ? ptx::Type::kF64 : ptx::Type::kB32;
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = use == Use::kRead ? operands.source(elements[i], type)
                              : operands.destination(elements[i], type);
    if (to[i] == 0) operands.unsupported(instruction);  // "_"
  }
  return count;
}

void require_whole_warp(const Party* parties, std::size_t count) {
  const Instruction& at = *parties->at;
  if (count > 1) {
    throw Fault{FaultKind::kDivergentBarrier,
                "the lanes of a warp execute one matrix operation at several places: in line " +
                    std::to_string(at.line) + " and in line " + std::to_string(parties[1].at->line),
                at.line, std::countr_zero(parties->mask)};
  }
  if (parties->mask != kAllLanes) {
    throw Fault{FaultKind::kDivergentBarrier,
                "a matrix operation takes all 32 threads of a warp, but only " +
                    std::to_string(std::popcount(parties->mask)) + " execute it",
                at.line, std::countr_zero(parties->mask)};
  }
}

}  // namespace krl::machine
