// Products of matrices in registers: mma and wmma.mma.
//
// Products are exact. Floats are summed in f32, rounded after each addition: first C, then the
// products in the order of A's columns; D is rounded once more if it is f16. A GPU sums in an order
// and with a separate rounding, so results agree within rounding, not bit for bit. f64 is a chain
// of fused multiplications and additions in the same order. Integers wrap around, or are clamped
// to s32 at the end with .satfinite.
#include "plugins/backends/cpu/machine/operations/tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/backends/cpu/machine/operations/fragments.hpp"
#include "plugins/backends/cpu/machine/operations/matrix_instruction.hpp"

namespace krl::machine {
namespace {

// Positions of the matrices' rows in the row of their offsets, `a`.
constexpr unsigned kRowsOfD = 0, kRowsOfA = 8, kRowsOfB = 16, kRowsOfC = 24;

// ---- execution ----

template <class T>
T multiply_add(T a, T b, T c) {
  if constexpr (std::is_same_v<T, double>) return std::fma(a, b, c);
  return a * b + c;  // for f32, both factors are so short that the product is exact
}

// c += a b, by rows: a of m x k, b of k x n, c of m x n.
template <unsigned n, class T>
void add_product(unsigned m, unsigned k, const T* __restrict a, const T* __restrict b,
                 T* __restrict c) {
  for (unsigned i = 0; i < m; ++i) {
    T sum[n];
    std::copy_n(c + i * n, n, sum);
    for (unsigned l = 0; l < k; ++l) {
      for (unsigned j = 0; j < n; ++j) sum[j] = multiply_add(a[i * k + l], b[l * n + j], sum[j]);
    }
    std::copy_n(sum, n, c + i * n);
  }
}
template <class T>
void add_product(const MatrixShape& shape, const T* a, const T* b, T* c) {
  if (shape.n == 8) return add_product<8>(shape.m, shape.k, a, b, c);
  if (shape.n == 16) return add_product<16>(shape.m, shape.k, a, b, c);
  add_product<32>(shape.m, shape.k, a, b, c);
}

// The sum of products is far from the limits of s32; only adding C can leave them.
void add_clamped(const std::int32_t* products, std::int32_t* c) {
  using Limits = std::numeric_limits<std::int32_t>;
  for (std::size_t i = 0; i < kMatrixElements; ++i) {
    const std::int64_t sum = std::int64_t{c[i]} + products[i];
    c[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()));
  }
}

template <Element a, Element b, Element c, Element d>
void multiply(const Party* parties, std::size_t count, Warp&) {
  require_whole_warp(parties, count);
  const Instruction& at = *parties->at;
  std::byte* const frame = parties->frame;
  const MatrixShape shape = {at.extra[0], at.extra[1], at.extra[2]};
  const bool clamped = at.extra[3] != 0;
  const auto* offsets = row<const std::uint32_t>(frame, at.a);

  using T = ValueOf<d>;
  alignas(kRowAlignment) T left[kMatrixElements], right[kMatrixElements], sum[kMatrixElements] = {};
  unpack<a>(shape.fragment(Part::kA, a), frame, offsets + kRowsOfA, left);
  unpack<b>(shape.fragment(Part::kB, b), frame, offsets + kRowsOfB, right);
  unpack<c>(shape.fragment(Part::kC, c), frame, offsets + kRowsOfC, sum);
  if (clamped) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      T products[kMatrixElements] = {};
      add_product(shape, left, right, products);
      add_clamped(products, sum);
    }
  } else {
    add_product(shape, left, right, sum);
  }
  pack<d>(shape.fragment(Part::kC, d), sum, frame, offsets + kRowsOfD);
}

// ---- decoding ----

struct Product {
  Element a, b, c, d;
  Meeting meeting;
};
template <Element a, Element b, Element c, Element d>
constexpr Product product() {
  return {a, b, c, d, multiply<a, b, c, d>};
}
using E = Element;
constexpr Product kProducts[] = {
    product<E::kF16, E::kF16, E::kF16, E::kF16>(),
    product<E::kF16, E::kF16, E::kF32, E::kF32>(),
    product<E::kF16, E::kF16, E::kF16, E::kF32>(),
    product<E::kF16, E::kF16, E::kF32, E::kF16>(),
    product<E::kBF16, E::kBF16, E::kF32, E::kF32>(),
    product<E::kTF32, E::kTF32, E::kF32, E::kF32>(),
    product<E::kE4M3, E::kE4M3, E::kF32, E::kF32>(),
    product<E::kE4M3, E::kE5M2, E::kF32, E::kF32>(),
    product<E::kE5M2, E::kE4M3, E::kF32, E::kF32>(),
    product<E::kE5M2, E::kE5M2, E::kF32, E::kF32>(),
    product<E::kE4M3, E::kE4M3, E::kF16, E::kF16>(),
    product<E::kE5M2, E::kE5M2, E::kF16, E::kF16>(),
    product<E::kS8, E::kS8, E::kS32, E::kS32>(),
    product<E::kS8, E::kU8, E::kS32, E::kS32>(),
    product<E::kU8, E::kS8, E::kS32, E::kS32>(),
    product<E::kU8, E::kU8, E::kS32, E::kS32>(),
    product<E::kS4, E::kS4, E::kS32, E::kS32>(),
    product<E::kS4, E::kU4, E::kS32, E::kS32>(),
    product<E::kU4, E::kS4, E::kS32, E::kS32>(),
    product<E::kU4, E::kU4, E::kS32, E::kS32>(),
    product<E::kF64, E::kF64, E::kF64, E::kF64>(),
};

// The modifiers of a product.
struct Form {
  MatrixShape shape;
  bool clamped = false;
  Product product;
};

// The element types of a product as they are written: d, a, b, c; or d, c of a product of f16.
const Product* find_product(const std::vector<Element>& types) {
  if (types.size() != 2 && types.size() != 4) return nullptr;
  const Element a = types.size() == 2 ? E::kF16 : types[1], b = types.size() == 2 ? a : types[2];
  for (const Product& p : kProducts) {
    if (p.d == types.front() && p.a == a && p.b == b && p.c == types.back()) return &p;
  }
  return nullptr;
}

std::optional<Form> form_of(const ptx::Instruction& in) {
  const bool wmma = in.opcode == "wmma";
  Modifiers modifiers(in);
  bool row_a = true, row_b = false;
  if (wmma && !modifiers.take("mma")) return std::nullopt;
  if (!modifiers.take("sync") || !modifiers.take("aligned")) return std::nullopt;
  const auto layouts = [&] {
    return modifiers.take_layout(&row_a) && modifiers.take_layout(&row_b);
  };
  if (wmma && !layouts()) return std::nullopt;
  const std::optional<MatrixShape> shape = modifiers.take_shape();
  if (!wmma && !(layouts() && row_a && !row_b)) return std::nullopt;
  Form form;
  form.clamped = modifiers.take("satfinite");
  const bool rounds = wmma && modifiers.take("rn");  // is before the types
  std::vector<Element> types;
  while (const auto element = modifiers.take_element()) types.push_back(*element);
  form.clamped |= modifiers.take("satfinite");
  const Product* product = find_product(types);
  if (product == nullptr || !shape) return std::nullopt;
  if (product->d == E::kF64 && !rounds) modifiers.take("rn");
  if (rounds && product->d != E::kF64) return std::nullopt;
  if (!modifiers.at_end() || (form.clamped && product->d != E::kS32)) return std::nullopt;
  const auto is_shape = wmma ? is_shape_of_wmma : is_shape_of_mma;
  if (!is_shape(*shape, product->a)) return std::nullopt;
  form.shape = *shape;
  form.product = *product;
  return form;
}

cpu::TensorType type_of(Element a) {
  switch (a) {
    case E::kF64:
      return cpu::TensorType::kF64;
    case E::kTF32:
      return cpu::TensorType::kTF32;
    case E::kE4M3:
    case E::kE5M2:
      return cpu::TensorType::kF8;
    case E::kS8:
    case E::kU8:
      return cpu::TensorType::kS8;
    case E::kS4:
    case E::kU4:
      return cpu::TensorType::kS4;
    default:
      return cpu::TensorType::kF16;
  }
}

}  // namespace

void decode_product(const ptx::Instruction& in, Operands& operands, Instruction* last,
                    Meeting* meeting) {
  const std::optional<Form> form = form_of(in);
  if (!form || in.operands.size() != 4) operands.unsupported(in);
  const auto& [shape, clamped, product] = *form;

  RowOffsets rows{};
  const auto add = [&](std::size_t operand, Part part, Element element, unsigned at) {
    add_rows(in, in.operands[operand], form->shape.fragment(part, element),
             operand == 0 ? Use::kWritten : Use::kRead, operands, &rows[at]);
  };
  add(0, Part::kC, product.d, kRowsOfD);
  add(1, Part::kA, product.a, kRowsOfA);
  add(2, Part::kB, product.b, kRowsOfB);
  add(3, Part::kC, product.c, kRowsOfC);
  last->a = operands.table(rows);
  last->extra[0] = shape.m;
  last->extra[1] = shape.n;
  last->extra[2] = shape.k;
  last->extra[3] = clamped ? 1 : 0;
  last->extra[4] = static_cast<std::uint8_t>(type_of(product.a));
  last->kind = InstructionClass::kTensor;
  *meeting = product.meeting;
}

}  // namespace krl::machine
