// Logic, shifts and bit fields of integers. Distances that are larger than a register shift
// everything out, as the ISA defines; in C++ they are undefined.
#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/integers.hpp"

namespace krl::machine {
namespace {

template <class T>
inline constexpr std::uint32_t kBits = sizeof(T) * 8;

template <class T>
T conjunction(T a, T b) {
  return a & b;
}
template <class T>
T disjunction(T a, T b) {
  return a | b;
}
template <class T>
T difference(T a, T b) {
  return a ^ b;
}
template <class T>
T complement(T a) {
  return static_cast<T>(~a);
}
template <class T>
T is_zero(T a) {
  return a == 0 ? 1 : 0;
}

template <class T>
T left(T a, std::uint32_t distance) {
  return static_cast<T>(distance < kBits<T> ? a << (distance & (kBits<T> - 1)) : 0);
}
template <class T>
T right(T a, std::uint32_t distance) {
  const std::uint32_t most = kBits<T> - 1;
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (distance < most ? distance : most));
  }
  return static_cast<T>(distance <= most ? a >> (distance & most) : 0);
}

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}
template <bool wraps>
std::uint32_t distance_of(std::uint32_t c) {
  return wraps ? c & 31 : c < 32 ? c : 32;
}
template <bool wraps>
std::uint32_t funnel_left(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>(joined(a, b) << distance_of<wraps>(c) >> 32);
}
template <bool wraps>
std::uint32_t funnel_right(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>(joined(a, b) >> distance_of<wraps>(c));
}

// Any function of three bits: bit 4a + 2b + c of the table.
std::uint32_t by_table(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  const auto all = [=](unsigned bit) { return 0 - (table >> bit & 1); };
  const auto chosen = [](std::uint32_t by, std::uint32_t one, std::uint32_t zero) {
    return zero ^ (by & (one ^ zero));
  };
  return chosen(a, chosen(b, chosen(c, all(7), all(6)), chosen(c, all(5), all(4))),
                chosen(b, chosen(c, all(3), all(2)), chosen(c, all(1), all(0))));
}

template <class T>
T lowest(std::uint32_t count) {  // a mask of `count` ones
  return static_cast<T>(count < kBits<T> ? (T{1} << (count & (kBits<T> - 1))) - 1 : ~T{0});
}
// The ISA takes the low eight bits of positions and lengths; GPUs do so for fields of 32 bits, and
// take the whole register for fields of 64.
template <class T>
std::uint32_t place(std::uint32_t register_bits) {
  return sizeof(T) == 8 ? register_bits : register_bits & 0xff;
}
template <class T>
T field(T a, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t count = place<T>(length);
  const T moved = right<T>(a, place<T>(position));
  if constexpr (std::is_signed_v<T>) {
    const std::uint32_t unused = count < kBits<T> ? (kBits<T> - count) & (kBits<T> - 1) : 0;
    return static_cast<T>(count == 0 ? 0 : static_cast<T>(moved << unused) >> unused);
  }
  return moved & lowest<T>(count);
}
template <class T>
T with_field(T a, T b, std::uint32_t position, std::uint32_t length) {
  const T ones = left<T>(lowest<T>(place<T>(length)), place<T>(position));
  return (b & ~ones) | (left<T>(a, place<T>(position)) & ones);
}

template <bool wraps>
std::uint32_t ones_between(std::uint32_t a, std::uint32_t b) {
  return left(lowest<std::uint32_t>(wraps ? b & 31 : b), wraps ? a & 31 : a);
}
// Extends the low b bits of a.
template <class T, bool wraps>
T extended(T a, std::uint32_t b) {
  const std::uint32_t count = wraps ? b & 31 : b < 32 ? b : 32;
  return field<T>(a, 0, count);
}

// A byte of the eight of b:a for each four bits of the selector; its bit 3: the byte's sign.
std::uint32_t permuted(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = joined(a, b);
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t choice = selector >> 4 * i & 0xf;
    const auto byte = static_cast<std::uint32_t>(bytes >> 8 * (choice & 7) & 0xff);
    const std::uint32_t sign = (byte & 0x80) != 0 ? 0xff : 0;
    result |= ((choice & 8) != 0 ? sign : byte) << 8 * i;
  }
  return result;
}
// The modes of prmt: the selector for each value of c's low two bits.
enum class Permutation : std::uint8_t { kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
constexpr std::uint32_t kSelectors[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
    {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
    {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
template <Permutation mode>
std::uint32_t permuted_by(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return permuted(a, b, kSelectors[static_cast<int>(mode)][c & 3]);
}

Mask both(Mask a, Mask b) { return a & b; }
Mask either(Mask a, Mask b) { return a | b; }
Mask one_of(Mask a, Mask b) { return a ^ b; }
Mask opposite(Mask a) { return ~a; }

template <class T>
void add_forms(Forms& forms) {
  const std::string bits = std::to_string(kBits<T>);
  constexpr InstructionClass kind = kIntegerKind<T>;
  forms.add<conjunction<T>>(kind, {"and.b" + bits});
  forms.add<disjunction<T>>(kind, {"or.b" + bits});
  forms.add<difference<T>>(kind, {"xor.b" + bits});
  forms.add<complement<T>>(kind, {"not.b" + bits});
  forms.add<is_zero<T>>(kind, {"cnot.b" + bits});
  forms.add<left<T>>(kind, {"shl.b" + bits});
  forms.add<right<T>>(kind, {"shr.b" + bits, "shr.u" + bits});
  forms.add<right<std::make_signed_t<T>>>(kind, {"shr.s" + bits});
  if constexpr (sizeof(T) > 2) {
    forms.add<with_field<T>>(kind, {"bfi.b" + bits});
    forms.add<field<T>>(kind, {"bfe.u" + bits});
    forms.add<field<std::make_signed_t<T>>>(kind, {"bfe.s" + bits});
  }
}

void add_predicate_forms(Forms& forms) {
  using ptx::Type;
  const auto two = [](Operation run) {
    return Form{
        run, InstructionClass::kInteger, 2, Type::kPredicate, {Type::kPredicate, Type::kPredicate}};
  };
  forms.add("and.pred", two(maskwise<both>));
  forms.add("or.pred", two(maskwise<either>));
  forms.add("xor.pred", two(maskwise<one_of>));
  forms.add(
      "not.pred",
      {maskwise<opposite>, InstructionClass::kInteger, 1, Type::kPredicate, {Type::kPredicate}});
}

void add_permutation_forms(Forms& forms) {
  constexpr InstructionClass kind = InstructionClass::kInteger;
  forms.add<permuted>(kind, {"prmt.b32"});
  forms.add<permuted_by<Permutation::kF4e>>(kind, {"prmt.b32.f4e"});
  forms.add<permuted_by<Permutation::kB4e>>(kind, {"prmt.b32.b4e"});
  forms.add<permuted_by<Permutation::kRc8>>(kind, {"prmt.b32.rc8"});
  forms.add<permuted_by<Permutation::kEcl>>(kind, {"prmt.b32.ecl"});
  forms.add<permuted_by<Permutation::kEcr>>(kind, {"prmt.b32.ecr"});
  forms.add<permuted_by<Permutation::kRc16>>(kind, {"prmt.b32.rc16"});
}

}  // namespace

void add_bit_forms(Forms& forms) {
  add_forms<std::uint16_t>(forms);
  add_forms<std::uint32_t>(forms);
  add_forms<std::uint64_t>(forms);
  add_predicate_forms(forms);
  add_permutation_forms(forms);
  constexpr InstructionClass kind = InstructionClass::kInteger;
  forms.add<by_table>(kind, {"lop3.b32"});
  forms.add<funnel_left<false>>(kind, {"shf.l.clamp.b32"});
  forms.add<funnel_left<true>>(kind, {"shf.l.wrap.b32"});
  forms.add<funnel_right<false>>(kind, {"shf.r.clamp.b32"});
  forms.add<funnel_right<true>>(kind, {"shf.r.wrap.b32"});
  forms.add<ones_between<false>>(kind, {"bmsk.clamp.b32"});
  forms.add<ones_between<true>>(kind, {"bmsk.wrap.b32"});
  forms.add<extended<std::uint32_t, false>>(kind, {"szext.clamp.u32"});
  forms.add<extended<std::uint32_t, true>>(kind, {"szext.wrap.u32"});
  forms.add<extended<std::int32_t, false>>(kind, {"szext.clamp.s32"});
  forms.add<extended<std::int32_t, true>>(kind, {"szext.wrap.s32"});
}

}  // namespace krl::machine
