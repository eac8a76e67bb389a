// f16 and bf16, one or two in a register. Sums and products are computed in float and rounded
// again, which is as if they were rounded once: float has more than twice the bits. A fused product
// and sum takes double, rounded to odd as well.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/functions.hpp"

namespace krl::machine {
namespace {

struct Mode {
  bool ftz = false, sat = false, relu = false;
};

template <Mode mode>
Half input(Half x) {
  return mode.ftz ? flushed(x) : x;
}
template <Mode mode>
BFloat input(BFloat x) {
  return x;
}
// Saturation and rectification commute with rounding.
template <Mode mode, class T>
T limited(T x) {
  if constexpr (mode.sat) return saturated(x);
  if constexpr (mode.relu) return rectified(x);
  return x;
}
// .ftz works like flushed_if_tiny(), for results below f16's normal values.
template <Mode mode, class H, class T>
H result(T x) {
  if constexpr (mode.ftz) x = x < T(0x1p-14) && x > T(-0x1p-14) ? std::copysign(T{0}, x) : x;
  return rounded_to<H>(limited<mode>(x));
}

template <class H, Mode mode>
H sum(H a, H b) {
  return result<mode, H>(value_of(input<mode>(a)) + value_of(input<mode>(b)));
}
template <class H, Mode mode>
H difference(H a, H b) {
  return result<mode, H>(value_of(input<mode>(a)) - value_of(input<mode>(b)));
}
template <class H, Mode mode>
H product(H a, H b) {
  return result<mode, H>(value_of(input<mode>(a)) * value_of(input<mode>(b)));
}
// a + b, rounded to odd: the last bit is set if there were more. By Knuth's exact error of a sum.
double sum_to_odd(double a, double b) {
  const double sum = a + b, added = sum - a;
  const double error = (a - (sum - added)) + (b - added);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  const bool inexact = (error > 0 || error < 0) && (bits & 1) == 0;
  const std::uint64_t odd = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return std::bit_cast<double>(inexact ? odd : bits);
}
template <class H, Mode mode>
H product_sum(H a, H b, H c) {
  const double exact = double{value_of(input<mode>(a))} * value_of(input<mode>(b));
  return result<mode, H>(sum_to_odd(exact, value_of(input<mode>(c))));
}
template <class H, Mode mode>
H negative(H a) {
  return result<mode, H>(-value_of(input<mode>(a)));
}
template <class H, Mode mode>
H magnitude(H a) {
  return result<mode, H>(std::fabs(value_of(input<mode>(a))));
}
template <class H, Mode mode, bool keeps_nan>
H smaller(H a, H b) {
  return rounded_to<H>(lesser<keeps_nan>(value_of(input<mode>(a)), value_of(input<mode>(b))));
}
template <class H, Mode mode, bool keeps_nan>
H larger(H a, H b) {
  return rounded_to<H>(greater<keeps_nan>(value_of(input<mode>(a)), value_of(input<mode>(b))));
}
// Applies the function to the absolute values; the result has the product's sign.
template <class H, H (*function)(H, H)>
H of_sizes(H a, H b) {
  const auto size = [](H x) { return H{static_cast<std::uint16_t>(x.bits & 0x7fffu)}; };
  const H found = function(size(a), size(b));
  const bool nan = value_of(found) != value_of(found);
  const auto sign = static_cast<std::uint16_t>((a.bits ^ b.bits) & 0x8000u);
  return {static_cast<std::uint16_t>(nan ? found.bits : found.bits | sign)};
}
// The error bounds are NVIDIA's, less the error of rounding the result.
template <class H>
constexpr double kPowerError = std::is_same_v<H, Half> ? 0x1.3p-11 : 0x1.cp-9;  // relative
template <class H>
constexpr double kTangentError = std::is_same_v<H, Half> ? 0x1.cp-13 : 0x1.cp-10;
template <class H, Mode mode>
H power_of_two(H a) {
  const float x = value_of(input<mode>(a));
  const double power = exp2(x);
  const double error = x == 0 || power > 0x1p1000 ? 0 : kPowerError<H> * power;
  return result<mode, H>(static_cast<float>(off_by(power, error, a.bits)));
}
template <class H>
H hyperbolic_tangent(H a) {
  const float x = value_of(a);
  const bool is_exact = x == 0 || std::isinf(x);
  const double off = off_by(tanh(x), is_exact ? 0 : kTangentError<H>, a.bits);
  return rounded_to<H>(static_cast<float>(std::clamp(off, -1.0, 1.0)));
}

template <class H>
Pair<H> both(H (*function)(H), Pair<H> a) {
  return {function(a.low), function(a.high)};
}
template <class Function>
struct Both;
template <class H, class... S>
struct Both<H (*)(S...)> {
  template <H (*function)(S...)>
  static Pair<H> of(Pair<S>... x) {
    return {function(x.low...), function(x.high...)};
  }
};

// The form for one value, and for two in a register.
template <auto function>
void add_both(Forms& forms, const std::string& name, const std::string& type,
              InstructionClass kind = InstructionClass::kFloat) {
  forms.add<function>(kind, {name + "." + type});
  forms.add<Both<decltype(function)>::template of<function>>(kind, {name + "." + type + "x2"});
}

template <class H, Mode mode>
void add_sums(Forms& forms, const std::string& mode_name, const std::string& type) {
  for (const char* rounding : {"", ".rn"}) {
    add_both<sum<H, mode>>(forms, std::string("add") + rounding + mode_name, type);
    add_both<difference<H, mode>>(forms, std::string("sub") + rounding + mode_name, type);
    add_both<product<H, mode>>(forms, std::string("mul") + rounding + mode_name, type);
  }
  add_both<product_sum<H, mode>>(forms, "fma.rn" + mode_name, type);
}
template <class H, Mode mode>
void add_signs(Forms& forms, const std::string& ftz, const std::string& type) {
  add_both<negative<H, mode>>(forms, "neg" + ftz, type);
  add_both<magnitude<H, mode>>(forms, "abs" + ftz, type);
  constexpr auto min = smaller<H, mode, false>, max = larger<H, mode, false>;
  constexpr auto min_nan = smaller<H, mode, true>, max_nan = larger<H, mode, true>;
  add_both<min>(forms, "min" + ftz, type);
  add_both<max>(forms, "max" + ftz, type);
  add_both<min_nan>(forms, "min" + ftz + ".NaN", type);
  add_both<max_nan>(forms, "max" + ftz + ".NaN", type);
  add_both<of_sizes<H, min>>(forms, "min" + ftz + ".xorsign.abs", type);
  add_both<of_sizes<H, max>>(forms, "max" + ftz + ".xorsign.abs", type);
  add_both<of_sizes<H, min_nan>>(forms, "min" + ftz + ".NaN.xorsign.abs", type);
  add_both<of_sizes<H, max_nan>>(forms, "max" + ftz + ".NaN.xorsign.abs", type);
}

}  // namespace

void add_half_forms(Forms& forms) {
  constexpr Mode plain{}, ftz{.ftz = true}, sat{.sat = true}, relu{.relu = true};
  constexpr Mode ftz_sat{.ftz = true, .sat = true}, ftz_relu{.ftz = true, .relu = true};
  add_sums<Half, plain>(forms, "", "f16");
  add_sums<Half, ftz>(forms, ".ftz", "f16");
  add_sums<Half, sat>(forms, ".sat", "f16");
  add_sums<Half, ftz_sat>(forms, ".ftz.sat", "f16");
  add_sums<BFloat, plain>(forms, "", "bf16");
  add_both<product_sum<Half, relu>>(forms, "fma.rn.relu", "f16");
  add_both<product_sum<Half, ftz_relu>>(forms, "fma.rn.ftz.relu", "f16");
  add_both<product_sum<BFloat, relu>>(forms, "fma.rn.relu", "bf16");
  add_signs<Half, plain>(forms, "", "f16");
  add_signs<Half, ftz>(forms, ".ftz", "f16");
  add_signs<BFloat, plain>(forms, "", "bf16");
  constexpr InstructionClass kind = InstructionClass::kSpecial;
  add_both<power_of_two<Half, plain>>(forms, "ex2.approx", "f16", kind);
  add_both<power_of_two<BFloat, plain>>(forms, "ex2.approx.ftz", "bf16", kind);
  add_both<hyperbolic_tangent<Half>>(forms, "tanh.approx", "f16", kind);
  add_both<hyperbolic_tangent<BFloat>>(forms, "tanh.approx", "bf16", kind);
}

}  // namespace krl::machine
