// cvt. The frequent forms on registers of their types' own sizes are separate operations
// (common_conversions.cpp); all others go by way of 64 bits: integers as such, floating-point
// values as double, which holds every one exactly.
#include <cmath>
#include <limits>
#include <optional>

#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/formats.hpp"
#include "plugins/backends/cpu/machine/operations/rounding.hpp"

namespace krl::machine {
namespace {

enum class Nature : std::uint8_t { kUnsigned, kSigned, kFloat };
struct ConvertedType {
  std::string_view name;
  Nature nature;
  std::uint8_t bytes;
  ptx::Type type;
  const Format* format = nullptr;  // set for floating-point types that C++ lacks
};
constexpr ConvertedType kTypes[] = {{"u8", Nature::kUnsigned, 1, ptx::Type::kU8},
                                    {"u16", Nature::kUnsigned, 2, ptx::Type::kU16},
                                    {"u32", Nature::kUnsigned, 4, ptx::Type::kU32},
                                    {"u64", Nature::kUnsigned, 8, ptx::Type::kU64},
                                    {"s8", Nature::kSigned, 1, ptx::Type::kS8},
                                    {"s16", Nature::kSigned, 2, ptx::Type::kS16},
                                    {"s32", Nature::kSigned, 4, ptx::Type::kS32},
                                    {"s64", Nature::kSigned, 8, ptx::Type::kS64},
                                    {"f16", Nature::kFloat, 2, ptx::Type::kF16, &kF16Format},
                                    {"bf16", Nature::kFloat, 2, ptx::Type::kBF16, &kBF16Format},
                                    {"tf32", Nature::kFloat, 4, ptx::Type::kB32, &kTF32Format},
                                    {"f32", Nature::kFloat, 4, ptx::Type::kF32},
                                    {"f64", Nature::kFloat, 8, ptx::Type::kF64}};

// Stored in Instruction::extra, in this order.
struct Conversion {
  std::uint8_t from = 0, from_bytes = 0;  // a type; the size of a register's values
  std::uint8_t to = 0, to_bytes = 0;
  std::uint8_t direction = 0;  // Direction
  std::uint8_t flags = 0;
};
constexpr std::uint8_t kToInteger = 1, kSaturate = 2, kFlush = 4, kRectify = 8;

struct alignas(kRowAlignment) Integers {
  std::int64_t lane[kLanes];
};
struct alignas(kRowAlignment) Reals {
  double lane[kLanes];
};

// ---- reading ----

template <class T>
void widen(const std::byte* from, std::uint32_t bytes, Integers* to) {
  for (unsigned i = 0; i < kLanes; ++i) {
    T value;
    std::memcpy(&value, from + std::size_t{i} * bytes, sizeof value);
    to->lane[i] = static_cast<std::int64_t>(value);
  }
}
void read_integers(const ConvertedType& type, const std::byte* from, std::uint32_t bytes,
                   Integers* to) {
  const bool is_signed = type.nature == Nature::kSigned;
  switch (type.bytes) {
    case 1:
      return is_signed ? widen<std::int8_t>(from, bytes, to) : widen<std::uint8_t>(from, bytes, to);
    case 2:
      return is_signed ? widen<std::int16_t>(from, bytes, to)
                       : widen<std::uint16_t>(from, bytes, to);
    case 4:
      return is_signed ? widen<std::int32_t>(from, bytes, to)
                       : widen<std::uint32_t>(from, bytes, to);
    default:
      return widen<std::int64_t>(from, bytes, to);
  }
}

template <class T, class Value>
void read_values(const std::byte* from, std::uint32_t bytes, Reals* to, Value value) {
  for (unsigned i = 0; i < kLanes; ++i) {
    T stored;
    std::memcpy(&stored, from + std::size_t{i} * bytes, sizeof stored);
    to->lane[i] = value(stored);
  }
}
void read_reals(const ConvertedType& type, const std::byte* from, std::uint32_t bytes, bool ftz,
                Reals* to) {
  if (type.format == &kF16Format) {
    read_values<Half>(from, bytes, to, [](Half x) { return value_of(x); });
  } else if (type.format == &kBF16Format) {
    read_values<BFloat>(from, bytes, to, [](BFloat x) { return value_of(x); });
  } else if (type.bytes == 8) {
    read_values<double>(from, bytes, to, [](double x) { return x; });
  } else if (ftz) {
    read_values<float>(from, bytes, to, [](float x) { return flushed(x); });
  } else {
    read_values<float>(from, bytes, to, [](float x) { return x; });
  }
}

// ---- integers ----

std::int64_t least(const ConvertedType& type) {
  if (type.nature == Nature::kUnsigned) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - 8 * type.bytes);
}
std::uint64_t greatest(const ConvertedType& type) {
  const unsigned unused = 64 - 8 * type.bytes + (type.nature == Nature::kSigned ? 1 : 0);
  return std::numeric_limits<std::uint64_t>::max() >> unused;
}

// Clamps to the range of `to`. u64 counts as above all of int64_t's values.
void clamp(const ConvertedType& from, const ConvertedType& to, Integers* integers) {
  const bool unsigned64 = from.nature == Nature::kUnsigned;
  const std::int64_t low = least(to);
  const std::uint64_t high = greatest(to);
  for (std::int64_t& lane : integers->lane) {
    const bool negative = lane < 0 && !unsigned64;
    if (negative) {
      lane = std::max(lane, low);
    } else {
      lane = static_cast<std::int64_t>(std::min(static_cast<std::uint64_t>(lane), high));
    }
  }
}
// Wraps to the type's bits, sign- or zero-extended.
void wrap(const ConvertedType& to, Integers* integers) {
  const unsigned unused = 64 - 8 * to.bytes;
  for (std::int64_t& lane : integers->lane) {
    const auto moved = static_cast<std::uint64_t>(lane) << unused;
    lane = to.nature == Nature::kSigned ? static_cast<std::int64_t>(moved) >> unused
                                        : static_cast<std::int64_t>(moved >> unused);
  }
}
// Values out of range become the nearest one in it. NaN is 0 where no type has 64 bits, and the
// highest bit alone otherwise, which is the sign in a wider register.
void to_integers(const Reals& reals, const ConvertedType& from, const ConvertedType& to,
                 Integers* integers) {
  const std::int64_t low = least(to);
  const std::uint64_t high = greatest(to);
  const bool is_wide = from.bytes == 8 || to.bytes == 8;
  const std::uint64_t highest_bit = std::uint64_t{1} << (8 * to.bytes - 1);
  const std::int64_t wide_nan =
      to.nature == Nature::kSigned ? low : static_cast<std::int64_t>(highest_bit);
  const std::int64_t nan = is_wide ? wide_nan : 0;
  const auto real_low = static_cast<double>(low);
  const auto real_high = static_cast<double>(high);  // for 64 bits rounded up, to a power of two
  for (unsigned i = 0; i < kLanes; ++i) {
    const double x = reals.lane[i];
    if (x != x) {
      integers->lane[i] = nan;
    } else if (x >= real_high) {
      integers->lane[i] = static_cast<std::int64_t>(high);
    } else if (x <= real_low) {
      integers->lane[i] = low;
    } else {
      integers->lane[i] = x >= 0x1p63 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(x))
                                      : static_cast<std::int64_t>(x);
    }
  }
}

template <class T>
void store_cut(const Integers& from, std::byte* frame, std::uint32_t offset, Mask mask) {
  set_lanewise(row<T>(frame, offset), mask,
               [&](unsigned i) { return static_cast<T>(from.lane[i]); });
}
void store_integers(const Integers& from, std::uint32_t bytes, std::byte* frame,
                    std::uint32_t offset, Mask mask) {
  switch (bytes) {
    case 1:
      return store_cut<std::uint8_t>(from, frame, offset, mask);
    case 2:
      return store_cut<std::uint16_t>(from, frame, offset, mask);
    case 4:
      return store_cut<std::uint32_t>(from, frame, offset, mask);
    default:
      return store_cut<std::uint64_t>(from, frame, offset, mask);
  }
}

// ---- floating point ----

void round_to_integers(Direction direction, Reals* reals) {
  for (double& lane : reals->lane) {
    switch (direction) {
      case Direction::kToZero:
        lane = std::trunc(lane);
        break;
      case Direction::kDown:
        lane = std::floor(lane);
        break;
      case Direction::kUp:
        lane = std::ceil(lane);
        break;
      default:
        lane = std::rint(lane);
    }
  }
}

Rounding rounding_of(Direction direction) {
  switch (direction) {
    case Direction::kToZero:
      return Rounding::kToZero;
    case Direction::kDown:
      return Rounding::kDown;
    case Direction::kUp:
      return Rounding::kUp;
    default:
      return Rounding::kNearest;
  }
}

// static_cast<T>(from[i]), rounded as the processor is told to. Not inlined: see RoundingScope.
template <class T, class From>
[[gnu::noipa]] void cast_lanes(const From* from, T* to) {
  for (unsigned i = 0; i < kLanes; ++i) to[i] = static_cast<T>(from[i]);
}
template <class T, class From>
void cast_rounded(const From* from, Direction direction, T* to) {
  const RoundingScope scope(rounding_of(direction));
  cast_lanes(from, to);
}

// `exact`: before rounding.
template <class T, class From>
T finished(const Conversion& conversion, From exact, T x) {
  if constexpr (sizeof(T) == 4 && std::is_same_v<From, double>) {
    if ((conversion.flags & kFlush) != 0) x = flushed_if_tiny(exact, x);
  }
  if ((conversion.flags & kSaturate) != 0) x = saturated(x);
  return canonical(x);
}

template <class T, class From>
void store_reals(const Conversion& conversion, const From* from, std::byte* frame,
                 std::uint32_t offset, Mask mask) {
  alignas(kRowAlignment) T rounded[kLanes];
  cast_rounded(from, static_cast<Direction>(conversion.direction), rounded);
  set_lanewise(row<T>(frame, offset), mask,
               [&](unsigned i) { return finished(conversion, from[i], rounded[i]); });
}

std::uint32_t encode(const Conversion& conversion, const Format& format, double x) {
  if ((conversion.flags & kSaturate) != 0) x = saturated(x);
  if ((conversion.flags & kRectify) != 0 && x <= 0) x = 0;
  const auto direction = static_cast<Direction>(conversion.direction);
  if (&format == &kTF32Format) return encoded_in(format, x, direction, 18) << 13;
  return encoded_in(format, x, direction, 15);
}
void store_encoded(const Conversion& conversion, const Reals& from, std::byte* frame,
                   std::uint32_t offset, Mask mask) {
  const ConvertedType& to = kTypes[conversion.to];
  Integers encoded;
  for (unsigned i = 0; i < kLanes; ++i) {
    encoded.lane[i] = encode(conversion, *to.format, from.lane[i]);
  }
  store_integers(encoded, to.bytes, frame, offset, mask);
}

// Converts to double, rounded to odd, so that rounding to a narrower type rounds only once in
// effect.
void to_odd_reals(const ConvertedType& from, const Integers& integers, Reals* reals) {
  for (unsigned i = 0; i < kLanes; ++i) {
    const bool negative = from.nature == Nature::kSigned && integers.lane[i] < 0;
    const auto bits = static_cast<std::uint64_t>(integers.lane[i]);
    const std::uint64_t size = negative ? 0 - bits : bits;
    const std::uint64_t odd = (size & ~std::uint64_t{0x7ff}) | ((size & 0x7ff) != 0 ? 0x800 : 0);
    const auto real = static_cast<double>(size < std::uint64_t{1} << 53 ? size : odd);
    reals->lane[i] = negative ? -real : real;
  }
}

// ---- the operation ----

Conversion conversion_of(const Instruction& instruction) {
  Conversion conversion;
  static_assert(sizeof conversion == sizeof instruction.extra);
  std::memcpy(&conversion, instruction.extra, sizeof conversion);
  return conversion;
}

void from_integers(const Conversion& conversion, Integers* integers, std::byte* frame,
                   std::uint32_t offset, Mask mask) {
  const ConvertedType& from = kTypes[conversion.from];
  const ConvertedType& to = kTypes[conversion.to];
  const auto* unsigned_lanes = reinterpret_cast<const std::uint64_t*>(integers->lane);
  const bool is_signed = from.nature == Nature::kSigned;
  if (to.nature != Nature::kFloat) {
    if ((conversion.flags & kSaturate) != 0) {
      clamp(from, to, integers);
    } else {
      wrap(to, integers);
    }
    store_integers(*integers, conversion.to_bytes, frame, offset, mask);
  } else if (to.format != nullptr) {
    Reals reals;
    to_odd_reals(from, *integers, &reals);
    store_encoded(conversion, reals, frame, offset, mask);
  } else if (to.bytes == 4) {
    is_signed ? store_reals<float>(conversion, integers->lane, frame, offset, mask)
              : store_reals<float>(conversion, unsigned_lanes, frame, offset, mask);
  } else {
    is_signed ? store_reals<double>(conversion, integers->lane, frame, offset, mask)
              : store_reals<double>(conversion, unsigned_lanes, frame, offset, mask);
  }
}

void from_reals(const Conversion& conversion, Reals* reals, std::byte* frame, std::uint32_t offset,
                Mask mask) {
  const ConvertedType& to = kTypes[conversion.to];
  if ((conversion.flags & kToInteger) != 0) {
    round_to_integers(static_cast<Direction>(conversion.direction), reals);
  }
  if (to.nature != Nature::kFloat) {
    Integers integers;
    to_integers(*reals, kTypes[conversion.from], to, &integers);
    store_integers(integers, conversion.to_bytes, frame, offset, mask);
  } else if (to.format != nullptr) {
    store_encoded(conversion, *reals, frame, offset, mask);
  } else if (to.bytes == 4) {
    store_reals<float>(conversion, reals->lane, frame, offset, mask);
  } else {
    store_reals<double>(conversion, reals->lane, frame, offset, mask);
  }
}

void convert(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  const Conversion conversion = conversion_of(instruction);
  const ConvertedType& from = kTypes[conversion.from];
  const std::byte* const source = frame + instruction.a;
  if (from.nature == Nature::kFloat) {
    Reals reals;
    // GPUs do not flush what becomes f16: rounded up, it is the least subnormal.
    const bool ftz =
        (conversion.flags & kFlush) != 0 && kTypes[conversion.to].format != &kF16Format;
    read_reals(from, source, conversion.from_bytes, ftz, &reals);
    from_reals(conversion, &reals, frame, instruction.d, mask);
  } else {
    Integers integers;
    read_integers(from, source, conversion.from_bytes, &integers);
    from_integers(conversion, &integers, frame, instruction.d, mask);
  }
}

// ---- decoding ----

struct RoundingModifier {
  std::string_view name;
  Direction direction;
  bool to_integer;
};
constexpr RoundingModifier kRoundings[] = {
    {"rn", Direction::kNearest, false}, {"rna", Direction::kNearestAway, false},
    {"rz", Direction::kToZero, false},  {"rm", Direction::kDown, false},
    {"rp", Direction::kUp, false},      {"rni", Direction::kNearest, true},
    {"rzi", Direction::kToZero, true},  {"rmi", Direction::kDown, true},
    {"rpi", Direction::kUp, true}};

std::optional<std::uint8_t> find_type(std::string_view name) {
  for (std::uint8_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == name) return i;
  }
  return std::nullopt;
}

struct Parsed {
  Conversion conversion;
  const RoundingModifier* rounding = nullptr;
};

bool take_modifier(const std::string& modifier, Parsed* parsed) {
  for (const RoundingModifier& known : kRoundings) {
    if (known.name != modifier) continue;
    if (parsed->rounding != nullptr) return false;
    parsed->rounding = &known;
    return true;
  }
  std::uint8_t& flags = parsed->conversion.flags;
  const std::uint8_t flag = modifier == "ftz"    ? kFlush
                            : modifier == "sat"  ? kSaturate
                            : modifier == "relu" ? kRectify
                                                 : 0;
  if (flag == 0 || (flags & flag) != 0) return false;
  flags |= flag;
  return true;
}

bool loses_bits(const ConvertedType& from, const ConvertedType& to) {
  if (from.nature != Nature::kFloat) return true;
  return from.bytes > to.bytes || (to.format != nullptr && from.format != to.format);
}

// True if the ISA defines the modifiers for these types.
bool fits(const Parsed& parsed) {
  const ConvertedType& from = kTypes[parsed.conversion.from];
  const ConvertedType& to = kTypes[parsed.conversion.to];
  const std::uint8_t flags = parsed.conversion.flags;
  const bool from_float = from.nature == Nature::kFloat, to_float = to.nature == Nature::kFloat;
  if (from.format == &kTF32Format) return false;
  if ((flags & kRectify) != 0 && (to.format == nullptr || (flags & kSaturate) != 0)) return false;
  if ((flags & kFlush) != 0 && from.name != "f32" && to.name != "f32") return false;
  const RoundingModifier* rounding = parsed.rounding;
  if (!from_float && !to_float) return rounding == nullptr;
  if (from_float && !to_float) return rounding != nullptr && rounding->to_integer;
  if (rounding == nullptr) return !loses_bits(from, to);
  if (rounding->to_integer) return from_float && from.type == to.type;
  const bool away = rounding->direction == Direction::kNearestAway;
  // The assembler takes a direction for bf16, which has no use for it.
  const bool is_needed = loses_bits(from, to) || from.format == &kBF16Format;
  return is_needed && (!away || to.format == &kTF32Format);
}

// A register of at least the type's size.
std::uint8_t register_bytes(const ptx::Instruction& instruction, const ptx::Operand& operand,
                            const ConvertedType& type, const Operands& operands) {
  const std::uint32_t bytes = operands.width(operand);
  const bool is_wider = bytes > type.bytes && type.nature != Nature::kFloat;
  if (bytes != type.bytes && !is_wider) operands.unsupported(instruction);
  return static_cast<std::uint8_t>(bytes);
}

bool decode_plain(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  const std::vector<std::string>& modifiers = instruction.modifiers;
  if (modifiers.size() < 2 || instruction.operands.size() != 2) return false;
  const auto to = find_type(modifiers[modifiers.size() - 2]);
  const auto from = find_type(modifiers.back());
  if (!to || !from) return false;
  Parsed parsed;
  parsed.conversion.to = *to;
  parsed.conversion.from = *from;
  for (std::size_t i = 0; i + 2 < modifiers.size(); ++i) {
    if (!take_modifier(modifiers[i], &parsed)) return false;
  }
  if (!fits(parsed)) return false;
  Conversion& conversion = parsed.conversion;
  if (parsed.rounding != nullptr) {
    conversion.direction = static_cast<std::uint8_t>(parsed.rounding->direction);
    if (parsed.rounding->to_integer) conversion.flags |= kToInteger;
  }
  const ptx::Operand& d = instruction.operands[0];
  const ptx::Operand& a = instruction.operands[1];
  const bool is_register = a.kind == ptx::Operand::kRegister;
  conversion.from_bytes =
      is_register ? register_bytes(instruction, a, kTypes[*from], operands) : kTypes[*from].bytes;
  conversion.to_bytes = register_bytes(instruction, d, kTypes[*to], operands);
  out->a = is_register ? operands.source_any(a) : operands.source(a, kTypes[*from].type);
  out->d = operands.destination_any(d);
  out->run = convert;
  const bool wide = kTypes[*from].type == ptx::Type::kF64 || kTypes[*to].type == ptx::Type::kF64;
  out->kind = wide ? InstructionClass::kDouble : InstructionClass::kConvert;
  std::memcpy(out->extra, &conversion, sizeof conversion);
  return true;
}

// The sizes of the registers are those of the form.
bool has_own_sizes(const Form& form, const ptx::Instruction& instruction,
                   const Operands& operands) {
  if (instruction.operands.size() != form.count + std::size_t{1}) return false;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const ptx::Operand& operand = instruction.operands[i];
    const ptx::Type type = i == 0 ? form.destination : form.sources[i - 1];
    if (operand.kind == ptx::Operand::kRegister && operands.width(operand) != size_of(type)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool decode_conversion(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  if (instruction.opcode != "cvt") return false;
  static const Forms forms = [] {
    Forms all;
    add_common_conversions(all);
    add_packing_conversions(all);
    return all;
  }();
  const Form* form = forms.find(instruction.full_name());
  if (form != nullptr && has_own_sizes(*form, instruction, operands)) {
    bind_form(*form, instruction, operands, out);
    return true;
  }
  return decode_plain(instruction, operands, out);
}

}  // namespace krl::machine
