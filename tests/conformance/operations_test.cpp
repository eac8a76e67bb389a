// Operations on all pairs of edge values, against other ways to compute the same: bit by bit, in
// wider types, by trying every value.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "tests/conformance/machine_results.hpp"

namespace krl::conformance {
namespace {

__extension__ using Wide = __int128;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

U64 input(const std::vector<U64>& all, Letter letter, std::size_t operand, std::size_t thread) {
  const U64 word = all[column_offset(letter, operand) / sizeof(U64) + thread];
  const std::string_view type = register_type(letter);
  return type == ".b16" ? word & 0xffff : type == ".b64" ? word : word & 0xffffffff;
}

// `expected(a, b, c)` of the operands' bits. NaN equals NaN if the letter is of floats.
template <class Expected>
void expect_form(const std::string& name, const std::string& operands, Expected expected) {
  static const std::vector<U64> all = inputs();
  const Program program = form_programs({{name, operands}}).front();
  const std::vector<U64> results = MachineResults().of(program);
  const auto is_nan = [&](U64 bits) {
    return (operands[0] == 'f' && std::isnan(std::bit_cast<float>(static_cast<U32>(bits)))) ||
           (operands[0] == 'e' && (bits & 0x7fff) > 0x7c00);
  };
  int wrong = 0;
  for (std::size_t thread = 0; thread < program.all_threads() && wrong < 3; ++thread) {
    U64 x[3] = {};
    for (std::size_t i = 1; i < operands.size(); ++i)
      x[i - 1] = input(all, operands[i], i - 1, thread);
    const U64 should = expected(x[0], x[1], x[2]), is = results[thread];
    if (should == is || (is_nan(should) && is_nan(is))) continue;
    ++wrong;
    ADD_FAILURE() << name << std::hex << " " << x[0] << " " << x[1] << " " << x[2] << " is " << is
                  << ", not " << should;
  }
}

std::int32_t s32(U64 bits) { return static_cast<std::int32_t>(bits); }
std::int64_t s64(U64 bits) { return static_cast<std::int64_t>(bits); }
float f32(U64 bits) { return std::bit_cast<float>(static_cast<U32>(bits)); }
U64 bits_of(float x) { return std::bit_cast<U32>(x); }
U64 clamped(Wide x, Wide low, Wide high) {
  return static_cast<U64>(x < low ? low : x > high ? high : x);
}
bool bit(U64 x, U64 place) { return place < 64 && (x >> place & 1) != 0; }

TEST(Operations, SumsAndProducts) {
  expect_form("add.sat.s32", "rrr", [](U64 a, U64 b, U64) {
    return clamped(Wide{s32(a)} + s32(b), INT32_MIN, INT32_MAX) & 0xffffffff;
  });
  expect_form("mul.hi.s64", "ddd",
              [](U64 a, U64 b, U64) { return static_cast<U64>(Wide{s64(a)} * s64(b) >> 64); });
  expect_form("mad.lo.s32", "rrrr",
              [](U64 a, U64 b, U64 c) { return static_cast<U32>(Wide{s32(a)} * s32(b) + s32(c)); });
  expect_form("mul.wide.s32", "drr",
              [](U64 a, U64 b, U64) { return static_cast<U64>(Wide{s32(a)} * s32(b)); });
  expect_form("sad.u32", "rrrr",
              [](U64 a, U64 b, U64 c) { return static_cast<U32>((a > b ? a - b : b - a) + c); });
  expect_form("dp4a.s32.u32", "rrrr", [](U64 a, U64 b, U64 c) {
    Wide sum = s32(c);
    for (int i = 0; i < 4; ++i) {
      sum += Wide{static_cast<std::int8_t>(a >> 8 * i)} * static_cast<std::uint8_t>(b >> 8 * i);
    }
    return static_cast<U32>(sum);
  });
}

// A division by zero gives ones, as on a GPU, and never ends the process; nor does INT_MIN / -1.
TEST(Operations, DivisionsNeverTrap) {
  const auto quotient = [](Wide a, Wide b) { return b == 0 ? -1 : a / b; };
  const auto rest = [](Wide a, Wide b) { return b == 0 ? -1 : a % b; };
  const auto low = [](Wide x) { return static_cast<U32>(x); };
  expect_form("div.s32", "rrr", [=](U64 a, U64 b, U64) { return low(quotient(s32(a), s32(b))); });
  expect_form("rem.s32", "rrr", [=](U64 a, U64 b, U64) { return low(rest(s32(a), s32(b))); });
  expect_form("div.u32", "rrr", [=](U64 a, U64 b, U64) { return low(quotient(a, b)); });
  expect_form("rem.u32", "rrr", [=](U64 a, U64 b, U64) { return low(rest(a, b)); });
  expect_form("div.s64", "ddd",
              [=](U64 a, U64 b, U64) { return static_cast<U64>(quotient(s64(a), s64(b))); });
  expect_form("rem.u64", "ddd", [=](U64 a, U64 b, U64) { return static_cast<U64>(rest(a, b)); });
  expect_form("div.s16", "hhh", [=](U64 a, U64 b, U64) {
    return static_cast<std::uint16_t>(
        quotient(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)));
  });
}

TEST(Operations, ShiftsBeyondTheWidth) {
  expect_form("shl.b32", "rrr", [](U64 a, U64 b, U64) { return b < 32 ? U32(a << b) : 0; });
  expect_form("shr.u64", "ddr", [](U64 a, U64 b, U64) { return b < 64 ? a >> b : 0; });
  expect_form("shr.s32", "rrr", [](U64 a, U64 b, U64) {
    return static_cast<U32>(Wide{s32(a)} >> (b < 64 ? b : 64));
  });
  expect_form("shf.l.clamp.b32", "rrrr", [](U64 a, U64 b, U64 c) {
    return static_cast<U32>((b << 32 | a) << (c < 32 ? c : 32) >> 32);
  });
}

TEST(Operations, FieldsBitByBit) {
  const auto field = [](U64 a, U64 b, U64 c, unsigned width, bool is_signed) {
    // Of 64 bits the GPU takes the whole registers.
    const U64 first = width == 64 ? b : b & 0xff, length = width == 64 ? c : c & 0xff;
    const U64 last = first + length > width ? width - 1 : first + length - 1;
    const bool sign = is_signed && length != 0 && bit(a, last);
    U64 result = 0;
    for (U64 i = 0; i < width; ++i) {
      const bool inside = i < length && first + i < width;
      if (inside ? bit(a, first + i) : sign) result |= U64{1} << i;
    }
    return result;
  };
  expect_form("bfe.u32", "rrrr", [=](U64 a, U64 b, U64 c) { return field(a, b, c, 32, false); });
  expect_form("bfe.s32", "rrrr", [=](U64 a, U64 b, U64 c) { return field(a, b, c, 32, true); });
  expect_form("bfe.s64", "ddrr", [=](U64 a, U64 b, U64 c) { return field(a, b, c, 64, true); });
  expect_form("brev.b32", "rr", [](U64 a, U64, U64) {
    U64 result = 0;
    for (int i = 0; i < 32; ++i) result |= (a >> i & 1) << (31 - i);
    return result;
  });
  expect_form("bfind.s32", "rr", [](U64 a, U64, U64) {
    for (int i = 31; i >= 0; --i) {
      if (bit(a, i) != bit(a, 31)) return static_cast<U64>(i);
    }
    return U64{0xffffffff};
  });
  expect_form("prmt.b32", "rrrr", [](U64 a, U64 b, U64 c) {
    U64 result = 0;
    for (int i = 0; i < 32; ++i) {
      const U64 choice = c >> i / 8 * 4 & 15;
      const U64 place = (choice & 7) * 8 + ((choice & 8) != 0 ? 7 : i % 8);
      if (bit(b << 32 | a, place)) result |= U64{1} << i;
    }
    return result;
  });
}

// Products of two f32 are exact in double.
TEST(Operations, DirectedRounding) {
  const auto rounded = [](double exact, bool up) {
    const auto nearest = static_cast<float>(exact);
    if (std::isnan(exact) || double{nearest} == exact) return bits_of(nearest);
    const float infinity = up ? INFINITY : -INFINITY;
    const bool is_beyond = up ? double{nearest} < exact : double{nearest} > exact;
    return bits_of(is_beyond ? std::nextafter(nearest, infinity) : nearest);
  };
  const auto exact = [](U64 a, U64 b) { return double{f32(a)} * f32(b); };
  expect_form("mul.rp.f32", "fff", [=](U64 a, U64 b, U64) { return rounded(exact(a, b), true); });
  expect_form("mul.rm.f32", "fff", [=](U64 a, U64 b, U64) { return rounded(exact(a, b), false); });
  expect_form("mul.rz.f32", "fff",
              [=](U64 a, U64 b, U64) { return rounded(exact(a, b), exact(a, b) < 0); });
  expect_form("mul.rn.f32", "fff", [=](U64 a, U64 b, U64) { return bits_of(f32(a) * f32(b)); });
  expect_form("fma.rn.f32", "ffff",
              [](U64 a, U64 b, U64 c) { return bits_of(std::fma(f32(a), f32(b), f32(c))); });
}

TEST(Operations, NanAndSignedZeros) {
  expect_form("min.f32", "fff", [](U64 a, U64 b, U64) {
    if (std::isnan(f32(a))) return std::isnan(f32(b)) ? U64{0x7fffffff} : b;
    if (std::isnan(f32(b))) return a;
    if (f32(a) == f32(b)) return std::signbit(f32(a)) ? a : b;
    return f32(a) < f32(b) ? a : b;
  });
  expect_form("max.NaN.f32", "fff", [](U64 a, U64 b, U64) {
    if (std::isnan(f32(a)) || std::isnan(f32(b))) return U64{0x7fffffff};
    if (f32(a) == f32(b)) return std::signbit(f32(a)) ? b : a;
    return f32(a) > f32(b) ? a : b;
  });
  expect_form("add.sat.f32", "fff", [](U64 a, U64 b, U64) {
    const float sum = f32(a) + f32(b);
    return bits_of(sum > 1 ? 1.0f : sum > 0 ? sum : 0.0f);
  });
  expect_form("setp.ltu.f32", "pff", [](U64 a, U64 b, U64) {
    return U64{std::isnan(f32(a)) || std::isnan(f32(b)) || f32(a) < f32(b)};
  });
  expect_form("setp.ne.f32", "pff", [](U64 a, U64 b, U64) {
    return U64{!std::isnan(f32(a)) && !std::isnan(f32(b)) && f32(a) != f32(b)};
  });
}

double half(U64 bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 0x3ff) / 1024;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -size : size;
}
// The nearest of all halves; of two, the even one. What is past the largest by half a step is
// infinite.
U64 nearest_half(double x) {
  if (std::isnan(x)) return 0x7fff;
  const U64 sign = std::signbit(x) ? 0x8000 : 0;
  U64 low = 0, high = 0x7c00;
  while (high - low > 1) {
    const U64 middle = (low + high) / 2;
    (half(middle) <= std::abs(x) ? low : high) = middle;
  }
  const double below = std::abs(x) - half(low), above = half(high) - std::abs(x);
  const bool up = below > above || (below == above && (low & 1) != 0);
  return sign | (std::isinf(x) ? 0x7c00 : up ? high : low);
}

TEST(Operations, Halves) {
  const auto value = [](U64 bits) {
    return (bits & 0x7fff) > 0x7c00    ? NAN
           : (bits & 0x7fff) == 0x7c00 ? std::copysign(INFINITY, half(bits))
                                       : half(bits);
  };
  expect_form("cvt.rn.f16.f32", "ef", [](U64 a, U64, U64) { return nearest_half(f32(a)); });
  expect_form("cvt.f32.f16", "fe",
              [=](U64 a, U64, U64) { return bits_of(static_cast<float>(value(a))); });
  expect_form("add.f16", "eee",
              [=](U64 a, U64 b, U64) { return nearest_half(value(a) + value(b)); });
  expect_form("mul.f16", "eee",
              [=](U64 a, U64 b, U64) { return nearest_half(value(a) * value(b)); });
}

TEST(Operations, Conversions) {
  expect_form("cvt.rni.s32.f32", "rf", [](U64 a, U64, U64) {
    if (std::isnan(f32(a))) return U64{0};
    const double whole = std::nearbyint(double{f32(a)});
    return static_cast<U64>(static_cast<U32>(whole < INT32_MIN ? INT32_MIN
                                             : whole > INT32_MAX
                                                 ? INT32_MAX
                                                 : static_cast<std::int32_t>(whole)));
  });
  expect_form("cvt.sat.s8.s32", "hr",
              [](U64 a, U64, U64) { return clamped(s32(a), -128, 127) & 0xffff; });
  expect_form("cvt.s32.s8", "rr", [](U64 a, U64, U64) {
    return static_cast<U64>(static_cast<U32>(std::int32_t{static_cast<std::int8_t>(a)}));
  });
  expect_form("cvt.rz.f32.u64", "fd", [](U64 a, U64, U64) {
    const auto nearest = static_cast<float>(a);
    const bool is_above = nearest >= 0x1p64f || static_cast<U64>(nearest) > a;
    return bits_of(is_above ? std::nextafter(nearest, 0.0f) : nearest);
  });
}

}  // namespace
}  // namespace krl::conformance
