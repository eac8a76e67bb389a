// The conversions that programs are full of, on registers of their types' own sizes.
#include <cmath>

#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/integers.hpp"

namespace krl::machine {
namespace {

constexpr InstructionClass kKind = InstructionClass::kConvert;

template <class D, class S>
D from_integer(S a) {
  return static_cast<D>(a);
}
template <class H>
float from_half(H a) {
  return canonical(value_of(a));
}
template <class H>
H to_half(float a) {
  return rounded_to<H>(a);
}
// Bits beyond the ten of tf32 are rounded as an integer's: a NaN can become an infinity.
std::uint32_t to_tf32(float a) {
  return (std::bit_cast<std::uint32_t>(a) + (std::isfinite(a) ? 0x1000u : 0u)) & ~0x1fffu;
}
double longer(float a) { return a; }
float shorter(double a) { return canonical(static_cast<float>(a)); }
float whole_down(float a) { return canonical(__builtin_floorf(a)); }
float whole_up(float a) { return canonical(__builtin_ceilf(a)); }
float whole_to_zero(float a) { return canonical(__builtin_truncf(a)); }
std::int32_t cut(float a) {
  const float above = a < -0x1p31f ? -0x1p31f : a;
  const float limited = above < 0x1p31f ? above : 0.0f;  // NaN, too
  const auto whole = static_cast<std::int32_t>(limited);
  return a >= 0x1p31f ? INT32_MAX : whole;
}

template <class S>
void add_from(Forms& forms) {
  const std::string type = integer_name<S>();
  const auto add = [&]<class D>(D) {
    const std::string bits = std::to_string(sizeof(D) * 8);
    forms.add<from_integer<D, S>>(kKind,
                                  {"cvt.u" + bits + "." + type, "cvt.s" + bits + "." + type});
  };
  add(std::uint16_t());
  add(std::uint32_t());
  add(std::uint64_t());
  if constexpr (sizeof(S) >= 4) {
    forms.add<from_integer<float, S>>(kKind, {"cvt.rn.f32." + type});
    forms.add<from_integer<double, S>>(InstructionClass::kDouble, {"cvt.rn.f64." + type});
  }
}

}  // namespace

void add_common_conversions(Forms& forms) {
  for_each_integer_type([&]<class T>(T) { add_from<T>(forms); });
  forms.add<from_half<Half>>(kKind, {"cvt.f32.f16"});
  forms.add<from_half<BFloat>>(kKind, {"cvt.f32.bf16"});
  forms.add<to_half<Half>>(kKind, {"cvt.rn.f16.f32"});
  forms.add<to_half<BFloat>>(kKind, {"cvt.rn.bf16.f32"});
  forms.add<to_tf32>(kKind, {"cvt.rna.tf32.f32"});
  forms.add<longer>(InstructionClass::kDouble, {"cvt.f64.f32"});
  forms.add<shorter>(InstructionClass::kDouble, {"cvt.rn.f32.f64"});
  forms.add<whole_down>(kKind, {"cvt.rmi.f32.f32"});
  forms.add<whole_up>(kKind, {"cvt.rpi.f32.f32"});
  forms.add<whole_to_zero>(kKind, {"cvt.rzi.f32.f32"});
  forms.add<cut>(kKind, {"cvt.rzi.s32.f32"});
}

}  // namespace krl::machine
