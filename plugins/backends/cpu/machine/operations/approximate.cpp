// .approx and .full: within the bounds of the PTX ISA, and near them if they are more than two
// units in the last place. The special cases follow the code of NVIDIA's compiler: an instruction
// of the special function unit, which neither takes nor returns subnormals, between scalings by
// powers of two.
#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/functions.hpp"

namespace krl::machine {
namespace {

constexpr float kSmallestNormal = 0x1p-126f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float size_of_value(float a) { return __builtin_fabsf(a); }

// ---- the unit: subnormal inputs are zeros, subnormal results become zeros ----

float unit_result(double x) { return canonical(flushed(static_cast<float>(x))); }
float unit_rcp(float a) { return unit_result(1.0 / double{flushed(a)}); }
float unit_rsqrt(float a) { return unit_result(1.0 / __builtin_sqrt(double{flushed(a)})); }
float unit_sqrt(float a) { return unit_result(__builtin_sqrt(double{flushed(a)})); }
float unit_ex2(float a) {
  const float x = flushed(a);
  const double power = exp2(double{x});
  const double error = x == 0 || power > 0x1p1000 ? 0 : 0x1.4p-23 * power;
  return unit_result(off_by(power, error, std::bit_cast<std::uint32_t>(x)));
}
[[gnu::always_inline]] inline float unit_lg2(float a) {  // a call in a loop is not a vector
  const float x = flushed(a);
  const double error = x >= 0.5f && x <= 2 && x != 1 ? 0x1.cp-23 : 0;
  const auto finite =
      static_cast<float>(off_by(log2(double{x}), error, std::bit_cast<std::uint32_t>(x)));
  const float nan = std::bit_cast<float>(0x7fffffffu);
  const float positive = x == kInfinity ? x : finite;
  return x > 0 ? positive : x == 0 ? -kInfinity : nan;
}
// Returns the argument in turns. The product with 1/2π is rounded to zero, as by the multiplication
// that precedes the unit.
double turns_of(float a) {
  const double exact = double{flushed(a)} * 0x1.45f306p-3;  // 1/2π in f32
  const double cut =
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(exact) & 0xffffffffe0000000u);
  return size_of_value(a) < kInfinity ? cut : 0;
}
float unless_infinite(float a, double result) {
  return size_of_value(a) < kInfinity ? static_cast<float>(result)
                                      : std::bit_cast<float>(0x7fffffffu);
}
// Sines and cosines of all but 0; they stay from -1 to 1.
double nearly(double result, float a) {
  const double off =
      off_by(result, flushed(a) == 0 ? 0 : 0x1.4p-21, std::bit_cast<std::uint32_t>(a));
  const double below = off > 1 ? 1 : off;
  return below < -1 ? -1 : below;
}
// From 2^24 turns on there is no fraction; the result is that of a whole turn.
double fraction_of(double turns) { return turns < 0x1p30 && turns > -0x1p30 ? turns : 0; }

// ---- the instructions ----

template <bool ftz>
float rcp(float a) {
  if constexpr (ftz) return unit_rcp(a);
  const float size = size_of_value(a);
  const float small = size < kSmallestNormal ? 0x1p24f : 1.0f;
  const float scale = size > 0x1p126f ? 0.25f : small;
  return canonical(unit_rcp(a * scale) * scale);
}
template <bool ftz>
float rsqrt(float a) {
  if constexpr (ftz) return unit_rsqrt(a);
  const bool small = size_of_value(a) < kSmallestNormal;
  return unit_rsqrt(small ? a * 0x1p24f : a) * (small ? 0x1p12f : 1.0f);
}
template <bool ftz>
float sqrt(float a) {
  if constexpr (ftz) return unit_sqrt(a);
  const bool small = size_of_value(a) < kSmallestNormal;
  return unit_sqrt(small ? a * 0x1p24f : a) * (small ? 0x1p-12f : 1.0f);
}
template <bool ftz>
float ex2(float a) {
  if constexpr (ftz) return unit_ex2(a);
  const bool small = a < -126.0f;
  const float half = unit_ex2(small ? a * 0.5f : a);
  return small ? half * half : half;
}
template <bool ftz>
float lg2(float a) {
  if constexpr (ftz) return unit_lg2(a);
  const bool small = size_of_value(a) < kSmallestNormal;
  return canonical(unit_lg2(small ? a * 0x1p24f : a) - (small ? 24.0f : 0.0f));
}
float sine(float a) {
  const double turns = fraction_of(turns_of(a));
  const double result = nearly(sin_of_turns(turns), a);
  return unless_infinite(a, turns == 0 ? turns : result);
}
float cosine(float a) {
  return unless_infinite(a, nearly(sin_of_turns(fraction_of(turns_of(a)) + 0.25), a));
}
// The result is exact for infinities.
float tangent(float a) {
  const double exact = tanh(a), share = size_of_value(a) < kInfinity ? 0x1.ep-12 : 0;
  const double off = off_by(exact, share * exact, std::bit_cast<std::uint32_t>(a));
  const double below = off > 1 ? 1 : off;
  return canonical(static_cast<float>(below < -1 ? -1 : below));
}

float product(bool ftz, float a, float b) {
  const float result = ftz ? flushed(flushed(a) * flushed(b)) : a * b;
  return canonical(result);
}
template <bool ftz>
float quotient(float a, float b) {
  const float scale = !ftz && size_of_value(b) < kSmallestNormal ? 0x1p24f : 1.0f;
  return product(ftz, unit_rcp(b * scale), a * scale);
}
template <bool ftz>
float full_quotient(float a, float b) {
  const float size = size_of_value(b);
  const float small = !ftz && size < kSmallestNormal ? 0x1p24f : 1.0f;
  const float scale = size > 0x1p126f ? 0.25f : small;
  return product(ftz, unit_rcp(b * scale), a * scale);
}

// For f64, only the upper halves are read and computed: a NaN whose payload is in its lower half is
// read as an infinity.
double upper_half(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const bool subnormal = (bits & 0x7ff0000000000000u) == 0;
  return std::bit_cast<double>(bits & (subnormal ? 0x8000000000000000u : 0xffffffff00000000u));
}
double upper_result(double x) {
  return x != x ? std::bit_cast<double>(0x7fffffff00000000u) : upper_half(x);
}
double upper_rcp(double a) { return upper_result(1 / upper_half(a)); }
double upper_rsqrt(double a) { return upper_result(1 / __builtin_sqrt(upper_half(a))); }
double whole_rsqrt(double a) { return 1 / __builtin_sqrt(a); }

template <bool ftz>
void add_forms(Forms& forms) {
  const std::string type = ftz ? ".approx.ftz.f32" : ".approx.f32";
  constexpr InstructionClass kind = InstructionClass::kSpecial;
  forms.add<rcp<ftz>>(kind, {"rcp" + type});
  forms.add<rsqrt<ftz>>(kind, {"rsqrt" + type});
  forms.add<sqrt<ftz>>(kind, {"sqrt" + type});
  forms.add<ex2<ftz>>(kind, {"ex2" + type});
  forms.add<lg2<ftz>>(kind, {"lg2" + type});
  forms.add<sine>(kind, {"sin" + type});
  forms.add<cosine>(kind, {"cos" + type});
  forms.add<quotient<ftz>>(kind, {"div" + type});
  forms.add<full_quotient<ftz>>(kind, {ftz ? "div.full.ftz.f32" : "div.full.f32"});
}

}  // namespace

void add_approximate_forms(Forms& forms) {
  add_forms<false>(forms);
  add_forms<true>(forms);
  constexpr InstructionClass kind = InstructionClass::kSpecial;
  forms.add<tangent>(kind, {"tanh.approx.f32"});
  forms.add<upper_rcp>(kind, {"rcp.approx.ftz.f64"});
  forms.add<upper_rsqrt>(kind, {"rsqrt.approx.ftz.f64"});
  forms.add<whole_rsqrt>(InstructionClass::kDoubleDivide, {"rsqrt.approx.f64"});
}

}  // namespace krl::machine
