// f32 and f64 without rounding: neg, abs, min, max, copysign, testp.
#include <cmath>

#include "plugins/backends/cpu/machine/operations/all_forms.hpp"

namespace krl::machine {
namespace {

template <bool ftz, class T>
T input(T x) {
  if constexpr (ftz) return flushed(x);
  return x;
}

template <class T, bool ftz>
T negative(T a) {
  return canonical(-input<ftz>(a));
}
template <class T, bool ftz>
T magnitude(T a) {
  return canonical(input<ftz>(a) < 0 || std::signbit(a) ? -input<ftz>(a) : input<ftz>(a));
}
template <class T, bool ftz, bool keeps_nan>
T smaller(T a, T b) {
  return lesser<keeps_nan>(input<ftz>(a), input<ftz>(b));
}
template <class T, bool ftz, bool keeps_nan>
T larger(T a, T b) {
  return greater<keeps_nan>(input<ftz>(a), input<ftz>(b));
}

float size_of_value(float a) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & 0x7fffffffu);
}
// Applies the function to the absolute values; the result has the product's sign.
template <float (*function)(float, float)>
float of_sizes(float a, float b) {
  const float result = function(size_of_value(a), size_of_value(b));
  const std::uint32_t sign =
      (std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)) & 0x80000000u;
  return canonical(std::bit_cast<float>(std::bit_cast<std::uint32_t>(result) | sign));
}

float with_sign(float sign, float size) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(sign) & 0x80000000u) |
                              (std::bit_cast<std::uint32_t>(size) & 0x7fffffffu));
}
double with_sign(double sign, double size) { return std::copysign(size, sign); }

template <class T>
constexpr T kSmallestNormal = sizeof(T) == 4 ? T(0x1p-126) : T(0x1p-1022);

template <class T>
bool finite(T a) {
  return std::abs(a) < std::numeric_limits<T>::infinity();
}
template <class T>
bool infinite(T a) {
  return std::abs(a) == std::numeric_limits<T>::infinity();
}
template <class T>
bool number(T a) {
  return a == a;
}
template <class T>
bool not_a_number(T a) {
  return a != a;
}
template <class T>
bool subnormal(T a) {
  return std::abs(a) < kSmallestNormal<T> && a != 0;
}
// GPUs count zero as normal.
template <class T>
bool normal(T a) {
  return finite(a) && !subnormal(a);
}

template <class T>
void add_tests(Forms& forms, InstructionClass kind, const std::string& type) {
  forms.add<finite<T>>(kind, {"testp.finite." + type});
  forms.add<infinite<T>>(kind, {"testp.infinite." + type});
  forms.add<number<T>>(kind, {"testp.number." + type});
  forms.add<not_a_number<T>>(kind, {"testp.notanumber." + type});
  forms.add<normal<T>>(kind, {"testp.normal." + type});
  forms.add<subnormal<T>>(kind, {"testp.subnormal." + type});
}

template <bool ftz>
void add_float_forms(Forms& forms) {
  const std::string f32 = ftz ? ".ftz" : "";
  constexpr InstructionClass kind = InstructionClass::kFloat;
  constexpr auto min = smaller<float, ftz, false>, max = larger<float, ftz, false>;
  constexpr auto min_nan = smaller<float, ftz, true>, max_nan = larger<float, ftz, true>;
  forms.add<negative<float, ftz>>(kind, {"neg" + f32 + ".f32"});
  forms.add<magnitude<float, ftz>>(kind, {"abs" + f32 + ".f32"});
  forms.add<min>(kind, {"min" + f32 + ".f32"});
  forms.add<max>(kind, {"max" + f32 + ".f32"});
  forms.add<min_nan>(kind, {"min" + f32 + ".NaN.f32"});
  forms.add<max_nan>(kind, {"max" + f32 + ".NaN.f32"});
  forms.add<of_sizes<min>>(kind, {"min" + f32 + ".xorsign.abs.f32"});
  forms.add<of_sizes<max>>(kind, {"max" + f32 + ".xorsign.abs.f32"});
  forms.add<of_sizes<min_nan>>(kind, {"min" + f32 + ".NaN.xorsign.abs.f32"});
  forms.add<of_sizes<max_nan>>(kind, {"max" + f32 + ".NaN.xorsign.abs.f32"});
}

}  // namespace

void add_float_sign_forms(Forms& forms) {
  add_float_forms<false>(forms);
  add_float_forms<true>(forms);
  constexpr InstructionClass kind = InstructionClass::kDouble;
  forms.add<negative<double, false>>(kind, {"neg.f64"});
  forms.add<magnitude<double, false>>(kind, {"abs.f64"});
  forms.add<smaller<double, false, false>>(kind, {"min.f64"});
  forms.add<larger<double, false, false>>(kind, {"max.f64"});
  constexpr float (*float_sign)(float, float) = with_sign;
  constexpr double (*double_sign)(double, double) = with_sign;
  forms.add<float_sign>(InstructionClass::kFloat, {"copysign.f32"});
  forms.add<double_sign>(kind, {"copysign.f64"});
  add_tests<float>(forms, InstructionClass::kFloat, "f32");
  add_tests<double>(forms, kind, "f64");
}

}  // namespace krl::machine
