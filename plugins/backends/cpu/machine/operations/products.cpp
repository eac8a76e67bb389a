// Products of integers: mul, mad, mul24, mad24, dp4a, dp2a.
#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/integers.hpp"

namespace krl::machine {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

// Twice as wide as T.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, Int128, Unsigned128>>>;

template <class T>
T low(T a, T b) {
  return static_cast<T>(std::common_type_t<T, unsigned>{a} * b);
}
template <class T>
T high(T a, T b) {
  return static_cast<T>(Wide<T>{a} * b >> sizeof(T) * 8);
}
template <class T>
Wide<T> wide(T a, T b) {
  return Wide<T>{a} * b;
}
template <class T>
T low_sum(T a, T b, T c) {
  return static_cast<T>(low(a, b) + c);
}
template <class T>
T high_sum(T a, T b, T c) {
  return static_cast<T>(high(a, b) + c);
}
template <class T>
Wide<T> wide_sum(T a, T b, Wide<T> c) {
  return wide(a, b) + c;
}
std::int32_t saturated(std::int64_t x) {
  const std::int64_t above = x < INT32_MIN ? INT32_MIN : x;
  return static_cast<std::int32_t>(above > INT32_MAX ? INT32_MAX : above);
}
std::int32_t saturated_high_sum(std::int32_t a, std::int32_t b, std::int32_t c) {
  return saturated(std::int64_t{high(a, b)} + c);
}

// The low 24 bits of a register as a number; products of them have 48 bits.
template <class T>
std::int64_t number24(T a) {
  return static_cast<T>(static_cast<std::uint32_t>(a) << 8) >> 8;
}
template <class T>
T low24(T a, T b) {
  return static_cast<T>(number24(a) * number24(b));
}
template <class T>
T high24(T a, T b) {
  return static_cast<T>(number24(a) * number24(b) >> 16);
}
template <class T>
T low24_sum(T a, T b, T c) {
  return static_cast<T>(low24(a, b) + c);
}
template <class T>
T high24_sum(T a, T b, T c) {
  return static_cast<T>(high24(a, b) + c);
}
std::int32_t saturated_high24_sum(std::int32_t a, std::int32_t b, std::int32_t c) {
  return saturated(std::int64_t{high24(a, b)} + c);
}

// Element `index` of a register that holds several T.
template <class T>
std::int32_t element(std::uint32_t row, unsigned index) {
  return static_cast<T>(row >> index * sizeof(T) * 8);
}
template <class A, class B>
std::uint32_t dot4(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t total = c;
  for (unsigned i = 0; i < 4; ++i) {
    total += static_cast<std::uint32_t>(element<A>(a, i) * element<B>(b, i));
  }
  return total;
}
// Two elements of 16 bits of a, with the lower or upper two of 8 bits of b.
template <class A, class B, unsigned first>
std::uint32_t dot2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return c + static_cast<std::uint32_t>(element<A>(a, 0) * element<B>(b, first)) +
         static_cast<std::uint32_t>(element<A>(a, 1) * element<B>(b, first + 1));
}

template <class T>
void add_forms(Forms& forms) {
  using Unsigned = std::make_unsigned_t<T>;
  const std::string type = integer_name<T>();
  constexpr InstructionClass kind =
      sizeof(T) == 8 ? InstructionClass::kInteger64 : InstructionClass::kMultiply;
  forms.add<low<Unsigned>>(kind, {"mul.lo." + type});
  forms.add<high<T>>(kind, {"mul.hi." + type});
  forms.add<low_sum<Unsigned>>(kind, {"mad.lo." + type});
  forms.add<high_sum<T>>(kind, {"mad.hi." + type});
  if constexpr (sizeof(T) < 8) {
    constexpr InstructionClass wide_kind = kIntegerKind<Wide<T>>;
    forms.add<wide<T>>(wide_kind, {"mul.wide." + type});
    forms.add<wide_sum<T>>(wide_kind, {"mad.wide." + type});
  }
  if constexpr (sizeof(T) == 4) {
    forms.add<low24<T>>(kind, {"mul24.lo." + type});
    forms.add<high24<T>>(kind, {"mul24.hi." + type});
    forms.add<low24_sum<T>>(kind, {"mad24.lo." + type});
    forms.add<high24_sum<T>>(kind, {"mad24.hi." + type});
  }
}

template <class A, class B>
void add_dot_forms(Forms& forms, const std::string& types) {
  using WideA = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  constexpr InstructionClass kind = InstructionClass::kMultiply;
  forms.add<dot4<A, B>>(kind, {"dp4a." + types});
  forms.add<dot2<WideA, B, 0>>(kind, {"dp2a.lo." + types});
  forms.add<dot2<WideA, B, 2>>(kind, {"dp2a.hi." + types});
}

}  // namespace

void add_product_forms(Forms& forms) {
  for_each_integer_type([&]<class T>(T) { add_forms<T>(forms); });
  forms.add<saturated_high_sum>(InstructionClass::kMultiply, {"mad.hi.sat.s32"});
  forms.add<saturated_high24_sum>(InstructionClass::kMultiply, {"mad24.hi.sat.s32"});
  add_dot_forms<std::uint8_t, std::uint8_t>(forms, "u32.u32");
  add_dot_forms<std::uint8_t, std::int8_t>(forms, "u32.s32");
  add_dot_forms<std::int8_t, std::uint8_t>(forms, "s32.u32");
  add_dot_forms<std::int8_t, std::int8_t>(forms, "s32.s32");
}

}  // namespace krl::machine
