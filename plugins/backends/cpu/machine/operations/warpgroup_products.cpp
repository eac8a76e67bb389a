// Asynchronous products of a warpgroup: wgmma.mma_async. Each warp computes its own 16 of the 64
// rows of D, when it begins the product; see ProductsUnderWay for when they may be used.
//
// The arithmetic is that of matrix_products.cpp: products are exact, floats are summed in f32, C
// first, then in the order of A's columns, and D is rounded once more if it is f16. A Hopper GPU
// sums products of 8-bit floats with about 14 bits, so its results are less exact.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/operations/fragments.hpp"
#include "plugins/backends/cpu/machine/operations/matrix_descriptor.hpp"
#include "plugins/backends/cpu/machine/operations/matrix_instruction.hpp"
#include "plugins/backends/cpu/machine/operations/warpgroup.hpp"
#include "plugins/backends/cpu/machine/operations/warpgroup_matrix.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

using E = Element;

constexpr unsigned kRows = 16;           // rows of A and D of one warp
constexpr unsigned kMostColumns = 256;   // columns of B and D
constexpr unsigned kMostDepth = 32;      // columns of A, rows of B
constexpr unsigned kAccumulators = 128;  // registers of D, at most
constexpr unsigned kFactors = 4;         // registers of A

// The rows of the operands' registers, and the places of their RegisterUse.
struct Registers {
  std::array<std::uint32_t, kAccumulators> d{}, use_of_d{};
  std::array<std::uint32_t, kFactors> a{}, use_of_a{};
};

// The operands of an instruction:
//   row a  the list of Registers
//   row b  B's descriptors         row c  A's descriptors; 0: A is in registers
//   row d  the predicate: D is added to
struct Settings {
  E a = E::kF16, b = E::kF16, d = E::kF32;
  bool clamped = false;
  bool negates = false;  // one of the factors
  bool a_k_major = true, b_k_major = true;
  unsigned columns = 8;

  unsigned depth() const { return kBytesAlongK * 8 / bits_of(a); }
  // Accumulators of one shape need no fence between products.
  std::uint32_t shape() const { return columns | depth() << 16; }

  std::int64_t packed() const {
    return static_cast<std::int64_t>(static_cast<unsigned>(a) | static_cast<unsigned>(b) << 4 |
                                     static_cast<unsigned>(d) << 8 | unsigned{clamped} << 12 |
                                     unsigned{negates} << 13 | unsigned{a_k_major} << 14 |
                                     unsigned{b_k_major} << 15 | columns << 16);
  }
  static Settings of(std::int64_t packed) {
    const auto bits = static_cast<std::uint64_t>(packed);
    return {static_cast<E>(bits & 15),      static_cast<E>(bits >> 4 & 15),
            static_cast<E>(bits >> 8 & 15), (bits >> 12 & 1) != 0,
            (bits >> 13 & 1) != 0,          (bits >> 14 & 1) != 0,
            (bits >> 15 & 1) != 0,          static_cast<unsigned>(bits >> 16 & 511)};
  }
};

// ---- execution ----

// The matrices of one warp: A and C by rows, B by its rows, which are those of one k.
template <class T>
struct Matrices {
  alignas(kRowAlignment) T a[kRows * kMostDepth], b[kMostDepth * kMostColumns],
      c[kRows * kMostColumns];
};

template <class T>
void add_product(unsigned columns, unsigned depth, bool clamped, Matrices<T>& m) {
  for (unsigned i = 0; i < kRows; ++i) {
    T sum[kMostColumns];
    T* const c = m.c + std::size_t{i} * columns;
    std::copy_n(c, columns, sum);
    if (clamped) std::fill_n(sum, columns, T{0});
    for (unsigned k = 0; k < depth; ++k) {
      const T a = m.a[i * depth + k];
      const T* __restrict const b = m.b + std::size_t{k} * columns;
      for (unsigned j = 0; j < columns; ++j) sum[j] = a * b[j] + sum[j];
    }
    if constexpr (std::is_same_v<T, std::int32_t>) {
      using Limits = std::numeric_limits<std::int32_t>;
      for (unsigned j = 0; clamped && j < columns; ++j) {
        sum[j] = static_cast<std::int32_t>(
            std::clamp<std::int64_t>(std::int64_t{c[j]} + sum[j], Limits::min(), Limits::max()));
      }
    }
    std::copy_n(sum, columns, c);
  }
}

template <class T>
void unpack_factor(const Settings& settings, std::byte* frame, const Registers& registers, T* to) {
  const Fragment fragment{Part::kA, kRows, settings.depth(), settings.a};
  const auto unpack_as = [&]<E e>() {
    if constexpr (std::is_same_v<ValueOf<e>, T>) {
      unpack<e>(fragment, frame, registers.a.data(), to);
    }
  };
  switch (settings.a) {
    case E::kF16:
      return unpack_as.template operator()<E::kF16>();
    case E::kBF16:
      return unpack_as.template operator()<E::kBF16>();
    case E::kTF32:
      return unpack_as.template operator()<E::kTF32>();
    case E::kE4M3:
      return unpack_as.template operator()<E::kE4M3>();
    case E::kE5M2:
      return unpack_as.template operator()<E::kE5M2>();
    case E::kS8:
      return unpack_as.template operator()<E::kS8>();
    default:
      return unpack_as.template operator()<E::kU8>();
  }
}

// Throws Fault unless all lanes have the same descriptor.
std::uint64_t descriptor_in(const Instruction& at, std::byte* frame, std::uint32_t offset) {
  const auto* values = row<const std::uint64_t>(frame, offset);
  const Mask different = lanes_where([&](unsigned i) { return values[i] != values[0]; });
  if (different == 0) return values[0];
  throw Fault{FaultKind::kIllegalAddress,
              "the threads of a warp have different descriptors of one matrix", at.line,
              std::countr_zero(different)};
}

bool adds(const Instruction& at, std::byte* frame) {
  const Mask predicate = *row<const Mask>(frame, at.d);
  if (predicate == 0 || predicate == kAllLanes) return predicate != 0;
  throw Fault{FaultKind::kDivergentBarrier,
              "the threads of a warp disagree whether a product is added to D", at.line,
              std::countr_zero(predicate)};
}

template <E d>
void multiply(const Party* parties, std::size_t count, Warp& warp) {
  using T = ValueOf<d>;
  require_whole_warp(parties, count);
  const Instruction& at = *parties->at;
  std::byte* const frame = parties->frame;
  const Settings settings = Settings::of(at.immediate);
  const Registers& registers = *row<const Registers>(frame, at.a);
  const unsigned columns = settings.columns, depth = settings.depth();
  const std::uint64_t of_a = at.c == 0 ? 0 : descriptor_in(at, frame, at.c);
  const std::uint64_t of_b = descriptor_in(at, frame, at.b);
  const bool added = adds(at, frame);
  join_warpgroup(at, warp, of_a * 3 + of_b * 5 + (added ? 1 : 0));

  static thread_local Matrices<T> m;
  ProductsUnderWay& products = warp.memory().products(warp.index());
  const Fragment result{Part::kC, kRows, columns, d};
  begin_uses(at, frame, {registers.use_of_d.data(), result.registers()},
             {registers.use_of_a.data(), at.c == 0 ? kFactors : 0}, settings.shape(), products);
  std::vector<ProductsUnderWay::Chunk> chunks;
  if (at.c == 0) {
    unpack_factor(settings, frame, registers, m.a);
  } else {
    const unsigned first = warp.index() % kWarpsPerGroup * kRows;
    read_matrix<T>({of_a, settings.a, settings.a_k_major, first, kRows}, at, warp, {m.a, 1, depth},
                   &chunks);
  }
  read_matrix<T>({of_b, settings.b, settings.b_k_major, 0, columns}, at, warp, {m.b, columns, 1},
                 &chunks);
  products.begin_reads(std::move(chunks), at.line);
  count_traffic(at, warp.index(), at.c != 0, columns);

  if (settings.negates) std::transform(m.a, m.a + kRows * depth, m.a, std::negate<T>());
  if (added) {
    unpack<d>(result, frame, registers.d.data(), m.c);
  } else {
    std::fill_n(m.c, std::size_t{kRows} * columns, T{0});
  }
  add_product(columns, depth, settings.clamped, m);
  pack<d>(result, m.c, frame, registers.d.data());
}

// ---- decoding ----

// "m64n256k16": the columns; 0: no shape.
unsigned columns_of(std::string_view shape, unsigned depth) {
  const std::string tail = "k" + std::to_string(depth);
  if (!shape.starts_with("m64n") || !shape.ends_with(tail)) return 0;
  const std::string_view digits = shape.substr(4, shape.size() - 4 - tail.size());
  unsigned columns = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), columns);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && columns % 8 == 0 && columns <= kMostColumns ? columns : 0;
}

bool is_float8(E element) { return element == E::kE4M3 || element == E::kE5M2; }
bool is_integer(E element) { return element == E::kS8 || element == E::kU8; }

bool is_product(E d, E a, E b) {
  if (is_integer(a)) return is_integer(b) && d == E::kS32;
  if (is_float8(a)) return is_float8(b) && (d == E::kF16 || d == E::kF32);
  if (a == E::kF16) return b == a && (d == E::kF16 || d == E::kF32);
  return (a == E::kBF16 || a == E::kTF32) && b == a && d == E::kF32;
}

// The types and the shape, as they are written.
std::optional<Settings> settings_of(const ptx::Instruction& in) {
  const auto& names = in.modifiers;
  if (names.size() < 7 || names[0] != "mma_async" || names[1] != "sync" || names[2] != "aligned") {
    return std::nullopt;
  }
  Settings settings;
  settings.clamped = names[4] == "satfinite";
  const std::size_t types = settings.clamped ? 5 : 4;
  if (names.size() != types + 3) return std::nullopt;
  const auto d = element_named(names[types]), a = element_named(names[types + 1]),
             b = element_named(names[types + 2]);
  if (!d || !a || !b || !is_product(*d, *a, *b)) return std::nullopt;
  settings.d = *d;
  settings.a = *a;
  settings.b = *b;
  settings.columns = columns_of(names[3], settings.depth());
  // Integers have fewer shapes.
  const bool known = settings.columns != 0 && (!is_integer(*a) || settings.columns == 24 ||
                                               settings.columns % 16 == 0 || settings.columns == 8);
  if (!known || (settings.clamped && !is_integer(*a))) return std::nullopt;
  return settings;
}

bool is_immediate(const ptx::Operand& operand, std::int64_t one, std::int64_t other) {
  const auto value = static_cast<std::int64_t>(operand.bits);
  return operand.kind == ptx::Operand::kInteger && (value == one || value == other);
}

// The immediates behind the descriptors and the predicate: signs of floats, layouts of 16 bits.
bool take_immediates(const ptx::Instruction& in, bool a_in_registers, Settings* settings) {
  const bool integer = is_integer(settings->a), layouts = bits_of(settings->a) == 16;
  const std::size_t signs = integer ? 0 : 2, transposed = layouts ? (a_in_registers ? 1 : 2) : 0;
  constexpr std::size_t kFirst = 4;
  if (in.operands.size() != kFirst + signs + transposed) return false;
  for (std::size_t i = kFirst; i < kFirst + signs; ++i) {
    if (!is_immediate(in.operands[i], 1, -1)) return false;
    settings->negates ^= static_cast<std::int64_t>(in.operands[i].bits) < 0;
  }
  for (std::size_t i = kFirst + signs; i < in.operands.size(); ++i) {
    if (!is_immediate(in.operands[i], 0, 1)) return false;
    const bool of_b = i + 1 == in.operands.size();
    (of_b ? settings->b_k_major : settings->a_k_major) = in.operands[i].bits == 0;
  }
  return true;
}

void add_registers(const ptx::Instruction& in, const ptx::Operand& operand, std::size_t count,
                   ptx::Type type, bool written, Operands& operands, std::uint32_t* rows,
                   std::uint32_t* uses) {
  if (operand.kind != ptx::Operand::kVector || operand.elements.size() != count) {
    operands.unsupported(in);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ptx::Operand& reg = operand.elements[i];
    if (reg.kind != ptx::Operand::kRegister) operands.unsupported(in);
    rows[i] = operands.source(reg, type);
    if (written) operands.destination(reg, type);
    uses[i] = operands.use_of(reg);
  }
}

cpu::TensorType type_of(E a) {
  if (is_integer(a)) return cpu::TensorType::kS8;
  if (is_float8(a)) return cpu::TensorType::kF8;
  return a == E::kTF32 ? cpu::TensorType::kTF32 : cpu::TensorType::kF16;
}

}  // namespace

void decode_warpgroup_product(const ptx::Instruction& in, Operands& operands, Instruction* last,
                              Meeting* meeting) {
  std::optional<Settings> settings = settings_of(in);
  if (!settings || in.operands.size() < 4) operands.unsupported(in);
  const bool in_registers = in.operands[1].kind == ptx::Operand::kVector;
  if (!take_immediates(in, in_registers, &*settings)) operands.unsupported(in);
  Registers registers;
  if (in_registers) {
    add_registers(in, in.operands[1], kFactors, ptx::Type::kB32, false, operands,
                  registers.a.data(), registers.use_of_a.data());
  } else {
    last->c = operands.source(in.operands[1], ptx::Type::kB64);
  }
  const Fragment result{Part::kC, kRows, settings->columns, settings->d};
  add_registers(in, in.operands[0], result.registers(), ptx::Type::kB32, true, operands,
                registers.d.data(), registers.use_of_d.data());
  last->b = operands.source(in.operands[2], ptx::Type::kB64);
  last->d = operands.source(in.operands[3], ptx::Type::kPredicate);
  using List = std::array<std::uint32_t, sizeof(Registers) / sizeof(std::uint32_t)>;
  last->a = operands.table(std::bit_cast<List>(registers));
  last->access = operands.new_access();
  last->access->movable = true;  // unwritten rows and columns are garbage, as those of the result
  last->access->element_bytes = MatrixDescriptor::kChunkBytes;
  last->immediate = settings->packed();
  // The product of these is that of the warp's part: 16 rows, all columns.
  last->extra[0] = kRows * 8;
  last->extra[1] = static_cast<std::uint8_t>(settings->columns / 8);
  last->extra[2] = static_cast<std::uint8_t>(settings->depth());
  last->extra[4] = static_cast<std::uint8_t>(type_of(settings->a));
  last->kind = InstructionClass::kTensor;
  *meeting = settings->d == E::kF32   ? multiply<E::kF32>
             : settings->d == E::kF16 ? multiply<E::kF16>
                                      : multiply<E::kS32>;
}

}  // namespace krl::machine
