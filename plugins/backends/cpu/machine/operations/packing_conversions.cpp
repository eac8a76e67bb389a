// Conversions that pack two values into a register, or take two out of it. The first source is the
// upper half.
#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/formats.hpp"

namespace krl::machine {
namespace {

constexpr InstructionClass kKind = InstructionClass::kConvert;

template <bool relu>
float limited(float x) {
  return relu ? rectified(x) : x;
}

template <class H, bool relu>
Pair<H> nearest(float high, float low) {
  return {rounded_to<H>(limited<relu>(low)), rounded_to<H>(limited<relu>(high))};
}
template <class H>
constexpr const Format& format_of() {
  if constexpr (std::is_same_v<H, Half>) return kF16Format;
  return kBF16Format;
}
template <class H, bool relu>
H cut(float x) {
  return {static_cast<std::uint16_t>(
      encoded_in(format_of<H>(), limited<relu>(x), Direction::kToZero, 15))};
}
template <class H, bool relu>
Pair<H> to_zero(float high, float low) {
  return {cut<H, relu>(low), cut<H, relu>(high)};
}

// Formats of eight bits.
template <const Format& format, bool relu>
std::uint16_t bytes_of(float high, float low) {
  const std::uint32_t upper = encoded_in(format, limited<relu>(high), Direction::kNearest, 7);
  const std::uint32_t lower = encoded_in(format, limited<relu>(low), Direction::kNearest, 7);
  return static_cast<std::uint16_t>(upper << 8 | lower);
}
template <const Format& format, bool relu>
std::uint16_t bytes_of_halves(Pair<Half> a) {
  return bytes_of<format, relu>(value_of(a.high), value_of(a.low));
}
template <const Format& format, bool relu>
Pair<Half> halves_of(std::uint16_t a) {
  const auto low = static_cast<float>(decoded_from(format, static_cast<std::uint8_t>(a)));
  const auto high = static_cast<float>(decoded_from(format, static_cast<std::uint8_t>(a >> 8)));
  return nearest<Half, relu>(high, low);
}

template <class T>
std::uint32_t clamped(std::int32_t x) {
  constexpr std::int32_t kLow = std::numeric_limits<T>::min(),
                         kHigh = std::numeric_limits<T>::max();
  return static_cast<std::make_unsigned_t<T>>(x < kLow ? kLow : x > kHigh ? kHigh : x);
}
template <class T>
std::uint32_t packed_halves(std::int32_t a, std::int32_t b) {
  return clamped<T>(a) << 16 | clamped<T>(b);
}
// Packs the result below the values packed before.
template <class T>
std::uint32_t packed_bytes(std::int32_t a, std::int32_t b, std::uint32_t c) {
  return c << 16 | clamped<T>(a) << 8 | clamped<T>(b);
}

template <const Format& format>
void add_bytes(Forms& forms, const std::string& type) {
  forms.add<bytes_of<format, false>>(kKind, {"cvt.rn.satfinite." + type + ".f32"});
  forms.add<bytes_of<format, true>>(kKind, {"cvt.rn.satfinite.relu." + type + ".f32"});
  forms.add<bytes_of_halves<format, false>>(kKind, {"cvt.rn.satfinite." + type + ".f16x2"});
  forms.add<bytes_of_halves<format, true>>(kKind, {"cvt.rn.satfinite.relu." + type + ".f16x2"});
  forms.add<halves_of<format, false>>(kKind, {"cvt.rn.f16x2." + type});
  forms.add<halves_of<format, true>>(kKind, {"cvt.rn.relu.f16x2." + type});
}
template <class H>
void add_halves(Forms& forms, const std::string& type) {
  forms.add<nearest<H, false>>(kKind, {"cvt.rn." + type + ".f32"});
  forms.add<nearest<H, true>>(kKind, {"cvt.rn.relu." + type + ".f32"});
  forms.add<to_zero<H, false>>(kKind, {"cvt.rz." + type + ".f32"});
  forms.add<to_zero<H, true>>(kKind, {"cvt.rz.relu." + type + ".f32"});
}

}  // namespace

void add_packing_conversions(Forms& forms) {
  add_halves<Half>(forms, "f16x2");
  add_halves<BFloat>(forms, "bf16x2");
  add_bytes<kE4M3Format>(forms, "e4m3x2");
  add_bytes<kE5M2Format>(forms, "e5m2x2");
  forms.add<packed_halves<std::uint16_t>>(kKind, {"cvt.pack.sat.u16.s32"});
  forms.add<packed_halves<std::int16_t>>(kKind, {"cvt.pack.sat.s16.s32"});
  forms.add<packed_bytes<std::uint8_t>>(kKind, {"cvt.pack.sat.u8.s32.b32"});
  forms.add<packed_bytes<std::int8_t>>(kKind, {"cvt.pack.sat.s8.s32.b32"});
}

}  // namespace krl::machine
