// Products of a warpgroup (wgmma): fragments and matrices in shared memory are laid out here by the
// formulas of the PTX ISA, and results are compared with sums in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "tests/unit/backends/machine/emulation.hpp"
#include "tests/unit/backends/machine/warpgroup_kernel.hpp"

namespace krl::machine::products_of_warpgroups {
namespace {

constexpr unsigned kRows = 64;

struct Type {
  const char* name;
  unsigned bits, exponent, mantissa;  // of a float; integers have neither
};
const Type kF16{"f16", 16, 5, 10}, kBF16{"bf16", 16, 8, 7}, kTF32{"tf32", 32, 8, 10},
    kE4M3{"e4m3", 8, 4, 3}, kE5M2{"e5m2", 8, 5, 2}, kS8{"s8", 8, 0, 0}, kU8{"u8", 8, 0, 0};

bool is_integer(const Type& type) { return type.exponent == 0; }

// The value of an element's bits.
double value_of(const Type& type, std::uint32_t bits) {
  if (is_integer(type)) {
    return type.name[0] == 's' ? static_cast<std::int8_t>(bits) : static_cast<std::uint8_t>(bits);
  }
  if (type.bits == 32) bits >>= 13;  // tf32: the lowest bits do not count
  const auto mantissa = static_cast<int>(type.mantissa);
  const std::uint32_t fraction = bits & ((1u << mantissa) - 1);
  const auto field = static_cast<int>(bits >> mantissa & ((1u << type.exponent) - 1));
  const int bias = (1 << (type.exponent - 1)) - 1;
  const double magnitude = field == 0
                               ? std::ldexp(fraction, 1 - bias - mantissa)
                               : std::ldexp(fraction + (1u << mantissa), field - bias - mantissa);
  return (bits >> (mantissa + static_cast<int>(type.exponent)) & 1) != 0 ? -magnitude : magnitude;
}

// Random bits; floats are of magnitudes near 1.
std::uint32_t random_bits(const Type& type, std::mt19937& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  if (is_integer(type)) return bits & 255;
  const std::uint32_t below = type.bits == 32 ? 13 : 0;
  const std::uint32_t field = (1u << (type.exponent - 1)) - 3 + bits % 4;
  const std::uint32_t value = (bits >> 31) << (type.exponent + type.mantissa) |
                              field << type.mantissa | (bits >> 8 & ((1u << type.mantissa) - 1));
  return value << below | (below > 0 ? bits >> 5 & 0x1fff : 0);
}

struct Form {
  std::string name;
  Type a, b;
  const char* d;  // f32, f16, s32
  unsigned columns;
  bool a_in_registers = false;
  bool a_k_major = true, b_k_major = true;
  int sign_a = 1, sign_b = 1;
  bool added = true, clamped = false;
  unsigned depth() const { return 256 / a.bits; }
  unsigned registers() const { return columns / (std::string(d) == "f16" ? 4 : 2); }
};

std::string source_of(const Form& form) {
  const bool single = std::string(form.d) == "f32", half = std::string(form.d) == "f16";
  const int count = static_cast<int>(form.registers());
  std::string immediates;
  if (!is_integer(form.a)) {
    immediates = ", " + std::to_string(form.sign_a) + ", " + std::to_string(form.sign_b);
  }
  if (form.a.bits == 16) {
    if (!form.a_in_registers) immediates += form.a_k_major ? ", 0" : ", 1";
    immediates += form.b_k_major ? ", 0" : ", 1";
  }
  const std::string name = "m64n" + std::to_string(form.columns) + "k" +
                           std::to_string(form.depth()) + (form.clamped ? ".satfinite." : ".") +
                           form.d + "." + form.a.name + "." + form.b.name;
  const std::string type = single ? "float" : half ? "unsigned" : "int";
  return "extern __shared__ __align__(1024) unsigned char tile[];\n"
         "__global__ void k(const uint4* image, int chunks, long long da, long long db, const "
         "unsigned* a, " +
         type +
         "* d, int add) {\n"
         "for (int i = threadIdx.x; i < chunks; i += 128) ((uint4*)tile)[i] = image[i];\n" +
         kProxyFence + "__syncthreads();\n" + type + " r[" + std::to_string(count) +
         "]; unsigned f[4];\nfor (int i = 0; i < " + std::to_string(count) +
         "; i++) r[i] = d[threadIdx.x * " + std::to_string(count) +
         " + i];\nfor (int i = 0; i < 4; i++) f[i] = a[threadIdx.x * 4 + i];\n" + kFence +
         product(name, single ? "f" : "r", count, form.a_in_registers, immediates) + kCommit +
         kWait + "for (int i = 0; i < " + std::to_string(count) + "; i++) d[threadIdx.x * " +
         std::to_string(count) + " + i] = r[i]; }";
}

// The bits of a matrix, by rows or columns mn.
struct Matrix {
  Type type;
  unsigned count, depth;
  std::vector<std::uint32_t> bits;

  Matrix(const Type& type, unsigned count, unsigned depth, std::mt19937& random)
      : type(type), count(count), depth(depth) {
    for (unsigned i = 0; i < count * depth; ++i) bits.push_back(random_bits(type, random));
  }
  std::uint32_t at(unsigned mn, unsigned k) const { return bits[mn * depth + k]; }
  double value(unsigned mn, unsigned k) const { return value_of(type, at(mn, k)); }
};

void put(std::vector<std::uint8_t>& image, unsigned start, const Layout& layout,
         const Matrix& matrix) {
  for (unsigned mn = 0; mn < matrix.count; ++mn) {
    for (unsigned k = 0; k < matrix.depth; ++k) {
      const std::uint32_t bits = matrix.at(mn, k);
      const unsigned at = start + layout.place(mn, k);
      ASSERT_LE(at + matrix.type.bits / 8, image.size());
      std::memcpy(image.data() + at, &bits, matrix.type.bits / 8);
    }
  }
}

// A's fragment: four registers of each of the 128 threads.
std::vector<std::uint32_t> fragments(const Matrix& a) {
  std::vector<std::uint32_t> registers(128 * 4);
  const unsigned per = 32 / a.type.bits;
  for (unsigned thread = 0; thread < 128; ++thread) {
    const unsigned group = thread % 32 / 4, in_group = thread % 4;
    for (unsigned i = 0; i < 4 * per; ++i) {
      const unsigned reg = i / per;
      const unsigned row = thread / 32 * 16 + group + (reg % 2) * 8;
      const unsigned k = in_group * per + i % per + (reg / 2) * 4 * per;
      registers[thread * 4 + reg] |= a.at(row, k) << (i % per * a.type.bits);
    }
  }
  return registers;
}

// The row and column of value i of a thread's fragment of D.
std::pair<unsigned, unsigned> place_in_result(unsigned thread, unsigned i) {
  return {thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8, i / 4 * 8 + thread % 4 * 2 + i % 2};
}

struct Placed {
  Layout a, b;
  unsigned start_a = 0, start_b = 0;
  unsigned bytes = 0;
  unsigned base_a = 0, base_b = 0;
};

// Tightly packed; the patterns begin at multiples of 1024 bytes.
Layout packed(const Type& type, bool k_major, unsigned mode, unsigned count, unsigned* bytes) {
  constexpr unsigned kRepeat[] = {1, 8, 4, 2};
  const unsigned row = kRepeat[mode] * 16;
  Layout layout{mode, k_major, type.bits, 0, 0};
  if (k_major) {
    layout.stride = 8 * row;
    layout.leading = mode == 0 ? count * 16 : 16;
    if (mode == 0) layout.stride = 128;
    *bytes = mode == 0 ? 2 * count * 16 : count / 8 * layout.stride;
  } else if (mode == 0) {
    layout.stride = 128;               // the next 8 of M or N
    layout.leading = count / 8 * 128;  // the next 8 of K
    *bytes = 2 * layout.leading;
  } else {
    layout.leading = 2 * 8 * row;  // the next atom along M or N
    layout.stride = 8 * row;       // the next 8 of K
    *bytes = (count * type.bits / 8 + row - 1) / row * layout.leading;
  }
  return layout;
}

Placed placed(const Form& form, unsigned mode_a, unsigned mode_b) {
  Placed placed;
  unsigned bytes_a = 0, bytes_b = 0;
  placed.a = packed(form.a, form.a_k_major, mode_a, kRows, &bytes_a);
  placed.b = packed(form.b, form.b_k_major, mode_b, form.columns, &bytes_b);
  placed.start_b = (bytes_a + 1023) / 1024 * 1024;
  placed.bytes = placed.start_b + (bytes_b + 1023) / 1024 * 1024;
  return placed;
}

template <class Stored>
void expect_product(const Form& form, const Placed& placed) {
  std::mt19937 random(7);
  const Matrix a(form.a, kRows, form.depth(), random),
      b(form.b, form.columns, form.depth(), random);
  std::vector<std::uint8_t> image(placed.bytes, 0xee);
  put(image, placed.start_a, placed.a, a);
  put(image, placed.start_b, placed.b, b);
  const unsigned registers = form.registers();
  const bool half = std::string(form.d) == "f16", integer = std::string(form.d) == "s32";
  std::vector<double> sums(kRows * form.columns);
  std::vector<Stored> d(128 * registers);
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < registers * (half ? 2 : 1); ++i) {
      const auto [row, column] = place_in_result(thread, i);
      double c = 0;
      if (half) {
        const std::uint32_t bits = random_bits(kF16, random);
        c = value_of(kF16, bits);
        d[thread * registers + i / 2] = std::bit_cast<Stored>(
            std::bit_cast<std::uint32_t>(d[thread * registers + i / 2]) | bits << i % 2 * 16);
      } else {
        c = integer ? (form.clamped ? (i % 2 == 0 ? 2147483000 : -2147483000)
                                    : static_cast<double>(random() % 100000))
                    : static_cast<float>(random() % 1000) / 64;
        d[thread * registers + i] = static_cast<Stored>(c);
      }
      sums[row * form.columns + column] = c;
    }
  }

  Emulation emulation(source_of(form), {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  const auto in = emulation.input<std::uint8_t>("image", image);
  const auto factors = emulation.input<std::uint32_t>(
      "a", form.a_in_registers ? fragments(a) : std::vector<std::uint32_t>(512));
  const auto out = emulation.output<Stored>("d", d);
  emulation.launch(0, {1, 1, 1}, {128, 1, 1},
                   {in, static_cast<std::int32_t>(image.size() / 16),
                    static_cast<std::int64_t>(placed.a.descriptor(placed.start_a, placed.base_a)),
                    static_cast<std::int64_t>(placed.b.descriptor(placed.start_b, placed.base_b)),
                    factors, out, form.added ? 1 : 0},
                   placed.bytes);
  emulation.job.max_shared_bytes = 227 << 10;
  const Result result = emulation.run();
  ASSERT_FALSE(result.launch_error) << result.launch_error->message;
  ASSERT_FALSE(result.fault) << result.fault->message;
  const std::vector<Stored> found = emulation.values<Stored>(out);
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < registers * (half ? 2 : 1); ++i) {
      const auto [row, column] = place_in_result(thread, i);
      double sum = form.added ? sums[row * form.columns + column] : 0, size = std::fabs(sum);
      for (unsigned k = 0; k < form.depth(); ++k) {
        const double term = form.sign_a * a.value(row, k) * form.sign_b * b.value(column, k);
        sum += term;
        size += std::fabs(term);
      }
      if (form.clamped) sum = std::clamp(sum, -2147483648.0, 2147483647.0);
      double value = static_cast<double>(found[thread * registers + (half ? i / 2 : i)]);
      double bound = integer ? 0 : size * (form.depth() + 1) * std::ldexp(1, -24);
      if (half) {
        value = value_of(
            kF16,
            std::bit_cast<std::uint32_t>(found[thread * registers + i / 2]) >> i % 2 * 16 & 0xffff);
        bound += std::fabs(sum) * std::ldexp(1, -11) + std::ldexp(1, -25);
      }
      ASSERT_NEAR(value, sum, bound) << form.name << " row " << row << " column " << column;
    }
  }
}

void expect_product(const Form& form, const Placed& placed) {
  if (std::string(form.d) == "f32") return expect_product<float>(form, placed);
  if (std::string(form.d) == "f16") return expect_product<std::uint32_t>(form, placed);
  expect_product<std::int32_t>(form, placed);
}

class WarpgroupProduct : public ::testing::TestWithParam<Form> {};
TEST_P(WarpgroupProduct, IsThatOfTheMatricesInEveryLayout) {
  for (unsigned mode_a = 0; mode_a < (GetParam().a_in_registers ? 1 : 4); ++mode_a) {
    for (unsigned mode_b = 0; mode_b < 4; ++mode_b) {
      SCOPED_TRACE("swizzling " + std::to_string(mode_a) + " " + std::to_string(mode_b));
      expect_product(GetParam(), placed(GetParam(), mode_a, mode_b));
      if (HasFatalFailure()) return;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    Tensor, WarpgroupProduct,
    ::testing::Values(
        Form{"f16", kF16, kF16, "f32", 64}, Form{"f16_widest", kF16, kF16, "f32", 256},
        Form{"f16_narrowest", kF16, kF16, "f32", 8}, Form{"f16_to_f16", kF16, kF16, "f16", 128},
        Form{"f16_registers", kF16, kF16, "f32", 40, true},
        Form{"f16_a_transposed", kF16, kF16, "f32", 64, false, false, true},
        Form{"f16_b_transposed", kF16, kF16, "f32", 256, false, true, false},
        Form{"f16_both_transposed", kF16, kF16, "f16", 72, false, false, false},
        Form{"f16_registers_b_transposed", kF16, kF16, "f16", 96, true, true, false},
        Form{"bf16", kBF16, kBF16, "f32", 64}, Form{"bf16_registers", kBF16, kBF16, "f32", 8, true},
        Form{"bf16_both_transposed", kBF16, kBF16, "f32", 200, false, false, false},
        Form{"tf32", kTF32, kTF32, "f32", 64},
        Form{"tf32_registers", kTF32, kTF32, "f32", 136, true},
        Form{"e4m3", kE4M3, kE4M3, "f32", 64}, Form{"e5m2", kE5M2, kE5M2, "f16", 16},
        Form{"e4m3_e5m2", kE4M3, kE5M2, "f32", 24},
        Form{"e5m2_e4m3_registers", kE5M2, kE4M3, "f16", 256, true},
        Form{"s8", kS8, kS8, "s32", 64}, Form{"s8_u8_registers", kS8, kU8, "s32", 24, true},
        Form{"u8_s8", kU8, kS8, "s32", 240}, Form{"u8", kU8, kU8, "s32", 8},
        Form{"s8_clamped", kS8, kS8, "s32", 32, false, true, true, 1, 1, true, true},
        Form{"negated_a", kF16, kF16, "f32", 16, false, true, true, -1, 1},
        Form{"negated_b", kTF32, kTF32, "f32", 16, true, true, true, 1, -1},
        Form{"negated_both", kE4M3, kE4M3, "f32", 16, false, true, true, -1, -1},
        Form{"not_added", kF16, kF16, "f32", 16, false, true, true, 1, 1, false},
        Form{"not_added_integer", kS8, kS8, "s32", 16, true, true, true, 1, 1, false}),
    [](const auto& test) { return test.param.name; });

// A pattern may begin anywhere at a multiple of 128 bytes, if the base offset tells it.
TEST(WarpgroupLayouts, PatternsBeginWhereTheBaseOffsetSays) {
  const Form form{"f16", kF16, kF16, "f32", 64};
  for (const unsigned mode : {1u, 2u, 3u}) {
    Placed at = placed(form, mode, mode);
    at.start_a = 384;
    at.base_a = 384 / 128 % 8;
    at.start_b += 1024 + 640;
    at.base_b = 1664 / 128 % 8;
    at.bytes += 4096;
    expect_product(form, at);
  }
}

// Offsets between the parts of a matrix need not be the least that is possible.
TEST(WarpgroupLayouts, PartsMayBeFarApart) {
  for (const unsigned mode : {0u, 1u, 2u, 3u}) {
    const Form form{"f16", kF16, kF16, "f32", 64, false, false, true};
    Placed at = placed(form, mode, mode);
    at.a.leading += 2048;
    at.a.stride += 4096;
    at.b.stride += 1024;
    at.start_b = 40 << 10;
    at.bytes = 64 << 10;
    if (mode == 0) at.b.leading = 16 << 10;
    expect_product(form, at);
  }
}

}  // namespace
}  // namespace krl::machine::products_of_warpgroups
