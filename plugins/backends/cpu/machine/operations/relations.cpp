#include "plugins/backends/cpu/machine/operations/relations.hpp"

#include <array>

#include "plugins/backends/cpu/machine/operations/values.hpp"

namespace krl::machine {
namespace {

using Comparison = Mask (*)(std::byte* frame, std::uint32_t a, std::uint32_t b);

// All others are made of these by swapping the operands and negating the result.
enum class Base : std::uint8_t { kEqual, kLess, kLessOrEqual, kLessOrGreater, kOrdered };
constexpr std::size_t kBases = 5;

struct Name {
  std::string_view name;
  Base base;
  bool swapped, negated;
};
constexpr Name kIntegerNames[] = {
    {"eq", Base::kEqual, false, false}, {"ne", Base::kEqual, false, true},
    {"lt", Base::kLess, false, false},  {"le", Base::kLess, true, true},
    {"gt", Base::kLess, true, false},   {"ge", Base::kLess, false, true}};
constexpr Name kUnsignedNames[] = {{"lo", Base::kLess, false, false},
                                   {"ls", Base::kLess, true, true},
                                   {"hi", Base::kLess, true, false},
                                   {"hs", Base::kLess, false, true}};
constexpr Name kFloatNames[] = {
    {"eq", Base::kEqual, false, false},         {"ne", Base::kLessOrGreater, false, false},
    {"lt", Base::kLess, false, false},          {"le", Base::kLessOrEqual, false, false},
    {"gt", Base::kLess, true, false},           {"ge", Base::kLessOrEqual, true, false},
    {"equ", Base::kLessOrGreater, false, true}, {"neu", Base::kEqual, false, true},
    {"ltu", Base::kLessOrEqual, true, true},    {"leu", Base::kLess, true, true},
    {"gtu", Base::kLessOrEqual, false, true},   {"geu", Base::kLess, false, true},
    {"num", Base::kOrdered, false, false},      {"nan", Base::kOrdered, false, true}};

template <class T>
bool holds(Base base, T a, T b) {
  switch (base) {
    case Base::kEqual:
      return a == b;
    case Base::kLess:
      return a < b;
    case Base::kLessOrEqual:
      return a <= b;
    case Base::kLessOrGreater:
      return a < b || a > b;
    case Base::kOrdered:
      break;
  }
  return a == a && b == b;
}

// Reads a lane's value unchanged.
template <class T>
struct Plain {
  using Stored = T;
  static T value(T x) { return x; }
};
struct Flushed {
  using Stored = float;
  static float value(float x) { return flushed(x); }
};
template <class H, bool ftz>
struct HalfValue {
  using Stored = H;
  static float value(H x) {
    if constexpr (ftz) return value_of(flushed(x));
    return value_of(x);
  }
};
template <class H, bool ftz>
struct LowHalf {
  using Stored = Pair<H>;
  static float value(Pair<H> x) { return HalfValue<H, ftz>::value(x.low); }
};
template <class H, bool ftz>
struct HighHalf {
  using Stored = Pair<H>;
  static float value(Pair<H> x) { return HalfValue<H, ftz>::value(x.high); }
};

template <class Read, Base base>
Mask compare(std::byte* frame, std::uint32_t a, std::uint32_t b) {
  using T = typename Read::Stored;
  const T* const left = row<T>(frame, a);
  const T* const right = row<T>(frame, b);
  return lanes_where(
      [=](unsigned i) { return holds(base, Read::value(left[i]), Read::value(right[i])); });
}

template <class Read>
Comparison comparison_of(Base base) {
  constexpr Comparison kComparisons[kBases] = {
      compare<Read, Base::kEqual>, compare<Read, Base::kLess>, compare<Read, Base::kLessOrEqual>,
      compare<Read, Base::kLessOrGreater>, compare<Read, Base::kOrdered>};
  return kComparisons[static_cast<std::size_t>(base)];
}
template <class T>
Comparison integers(Base base) {
  return base == Base::kEqual ? compare<Plain<T>, Base::kEqual> : compare<Plain<T>, Base::kLess>;
}

using OfBase = Comparison (*)(Base);
template <class H, bool ftz>
constexpr OfBase kLow = comparison_of<LowHalf<H, ftz>>;
template <class H, bool ftz>
constexpr OfBase kHigh = comparison_of<HighHalf<H, ftz>>;

enum class Ordering : std::uint8_t { kBits, kSigned, kUnsigned, kFloat };
struct ComparedType {
  std::string_view name;
  bool ftz;
  Ordering ordering;
  ptx::Type type;
  OfBase compare, compare_high = nullptr;
};
constexpr ComparedType kTypes[] = {
    {"b16", false, Ordering::kBits, ptx::Type::kB16, integers<std::uint16_t>},
    {"b32", false, Ordering::kBits, ptx::Type::kB32, integers<std::uint32_t>},
    {"b64", false, Ordering::kBits, ptx::Type::kB64, integers<std::uint64_t>},
    {"u16", false, Ordering::kUnsigned, ptx::Type::kU16, integers<std::uint16_t>},
    {"u32", false, Ordering::kUnsigned, ptx::Type::kU32, integers<std::uint32_t>},
    {"u64", false, Ordering::kUnsigned, ptx::Type::kU64, integers<std::uint64_t>},
    {"s16", false, Ordering::kSigned, ptx::Type::kS16, integers<std::int16_t>},
    {"s32", false, Ordering::kSigned, ptx::Type::kS32, integers<std::int32_t>},
    {"s64", false, Ordering::kSigned, ptx::Type::kS64, integers<std::int64_t>},
    {"f32", false, Ordering::kFloat, ptx::Type::kF32, comparison_of<Plain<float>>},
    {"f32", true, Ordering::kFloat, ptx::Type::kF32, comparison_of<Flushed>},
    {"f64", false, Ordering::kFloat, ptx::Type::kF64, comparison_of<Plain<double>>},
    {"f16", false, Ordering::kFloat, ptx::Type::kF16, comparison_of<HalfValue<Half, false>>},
    {"f16", true, Ordering::kFloat, ptx::Type::kF16, comparison_of<HalfValue<Half, true>>},
    {"bf16", false, Ordering::kFloat, ptx::Type::kBF16, comparison_of<HalfValue<BFloat, false>>},
    {"f16x2", false, Ordering::kFloat, ptx::Type::kF16x2, kLow<Half, false>, kHigh<Half, false>},
    {"f16x2", true, Ordering::kFloat, ptx::Type::kF16x2, kLow<Half, true>, kHigh<Half, true>},
    {"bf16x2", false, Ordering::kFloat, ptx::Type::kBF16x2, kLow<BFloat, false>,
     kHigh<BFloat, false>}};

template <std::size_t count>
const Name* find(const Name (&names)[count], std::string_view name) {
  for (const Name& known : names) {
    if (known.name == name) return &known;
  }
  return nullptr;
}
const Name* find_name(Ordering ordering, std::string_view name) {
  if (ordering == Ordering::kFloat) return find(kFloatNames, name);
  const Name* found = find(kIntegerNames, name);
  if (found == nullptr && ordering == Ordering::kUnsigned) found = find(kUnsignedNames, name);
  const bool needs_order = found != nullptr && found->base != Base::kEqual;
  return needs_order && ordering == Ordering::kBits ? nullptr : found;
}

struct Comparisons {
  Comparison low, high;
};
// Indexed by the position of the type and the base.
const auto kComparisons = [] {
  std::array<Comparisons, std::size(kTypes) * kBases> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ComparedType& type = kTypes[i / kBases];
    const auto base = static_cast<Base>(i % kBases);
    all[i] = {type.compare(base), type.compare_high == nullptr ? nullptr : type.compare_high(base)};
  }
  return all;
}();

}  // namespace

std::optional<Relation> find_relation(std::string_view name, std::string_view type, bool ftz) {
  for (const ComparedType& known : kTypes) {
    if (known.name != type || known.ftz != ftz) continue;
    const Name* found = find_name(known.ordering, name);
    if (found == nullptr) return std::nullopt;
    const auto position = static_cast<std::size_t>(&known - kTypes);
    const auto index =
        static_cast<std::uint8_t>(position * kBases + static_cast<std::size_t>(found->base));
    return Relation{index, found->swapped, found->negated, known.compare_high != nullptr,
                    known.type};
  }
  return std::nullopt;
}

Mask compare_rows(std::uint8_t index, std::byte* frame, std::uint32_t a, std::uint32_t b) {
  return kComparisons[index].low(frame, a, b);
}

Mask compare_upper(std::uint8_t index, std::byte* frame, std::uint32_t a, std::uint32_t b) {
  return kComparisons[index].high(frame, a, b);
}

}  // namespace krl::machine
