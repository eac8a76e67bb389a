// Integers: sums, differences, smallest and largest.
#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/integers.hpp"

namespace krl::machine {
namespace {

template <class T>
T sum(T a, T b) {
  return static_cast<T>(a + b);
}
template <class T>
T difference(T a, T b) {
  return static_cast<T>(a - b);
}
std::int32_t clamped(std::int64_t x) {
  const std::int64_t low = x < INT32_MIN ? INT32_MIN : x;
  return static_cast<std::int32_t>(low > INT32_MAX ? INT32_MAX : low);
}
std::int32_t saturated_sum(std::int32_t a, std::int32_t b) { return clamped(std::int64_t{a} + b); }
std::int32_t saturated_difference(std::int32_t a, std::int32_t b) {
  return clamped(std::int64_t{a} - b);
}
template <class T>
T negative(T a) {
  return static_cast<T>(T{0} - a);
}
template <class T>
T magnitude(T a) {
  return static_cast<T>(a < 0 ? T{0} - a : a);
}
template <class T>
T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T, T (*function)(T, T)>
T not_below_zero(T a, T b) {
  return larger<T>(function(a, b), T{0});
}
template <class T>
T sum_of_difference(T a, T b, T c) {
  return static_cast<T>((a < b ? b - a : a - b) + c);
}

// The two halves of a register by themselves.
template <class T, T (*function)(T, T)>
Pair<T> both(Pair<T> a, Pair<T> b) {
  return {function(a.low, b.low), function(a.high, b.high)};
}

template <class T>
void add_forms(Forms& forms) {
  using Unsigned = std::make_unsigned_t<T>;
  const std::string type = integer_name<T>();
  constexpr InstructionClass kind = kIntegerKind<T>;
  forms.add<sum<Unsigned>>(kind, {"add." + type});
  forms.add<difference<Unsigned>>(kind, {"sub." + type});
  forms.add<smaller<T>>(kind, {"min." + type});
  forms.add<larger<T>>(kind, {"max." + type});
  forms.add<sum_of_difference<T>>(kind, {"sad." + type});
  if constexpr (std::is_signed_v<T>) {
    forms.add<negative<T>>(kind, {"neg." + type});
    forms.add<magnitude<T>>(kind, {"abs." + type});
  }
}

template <class T>
void add_pair_forms(Forms& forms) {
  const std::string type = integer_name<T>() + "x2";
  constexpr InstructionClass kind = InstructionClass::kInteger;
  forms.add<both<T, sum<T>>>(kind, {"add." + type});
  forms.add<both<T, smaller<T>>>(kind, {"min." + type});
  forms.add<both<T, larger<T>>>(kind, {"max." + type});
}

}  // namespace

void add_integer_forms(Forms& forms) {
  for_each_integer_type([&]<class T>(T) { add_forms<T>(forms); });
  add_pair_forms<std::uint16_t>(forms);
  add_pair_forms<std::int16_t>(forms);
  constexpr InstructionClass kind = InstructionClass::kInteger;
  forms.add<saturated_sum>(kind, {"add.sat.s32"});
  forms.add<saturated_difference>(kind, {"sub.sat.s32"});
  using S16 = std::int16_t;
  forms.add<not_below_zero<std::int32_t, smaller>>(kind, {"min.relu.s32"});
  forms.add<not_below_zero<std::int32_t, larger>>(kind, {"max.relu.s32"});
  forms.add<both<S16, not_below_zero<S16, smaller>>>(kind, {"min.relu.s16x2"});
  forms.add<both<S16, not_below_zero<S16, larger>>>(kind, {"max.relu.s16x2"});
}

bool decode_arithmetic(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  static const Forms forms = [] {
    Forms all;
    add_integer_forms(all);
    add_product_forms(all);
    add_division_forms(all);
    add_bit_forms(all);
    add_bit_count_forms(all);
    return all;
  }();
  return decode_form(forms, instruction, operands, out) || decode_carry(instruction, operands, out);
}

}  // namespace krl::machine
