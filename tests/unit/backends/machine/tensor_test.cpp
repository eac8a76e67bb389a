// Products of matrices: the layouts of mma are those of the PTX ISA; those of wmma agree with each
// other.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

// A floating-point number that a format holds exactly, as its bits.
unsigned encoded(float value, int exponent_bits, int mantissa_bits) {
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // 0.5 … 1
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa =
      static_cast<unsigned>(std::ldexp(fraction, mantissa_bits + 1)) - (1u << mantissa_bits);
  const auto field = static_cast<unsigned>(exponent - 1 + bias);
  return (value < 0 ? 1u : 0u) << (exponent_bits + mantissa_bits) | field << mantissa_bits |
         mantissa;
}

struct Element {
  const char* stored;  // type of a value in memory, which holds its bits
  unsigned bits;
  std::function<unsigned(int)> bits_of;
};
const Element kF16 = {"unsigned short", 16,
                      [](int v) { return encoded(static_cast<float>(v), 5, 10); }};
const Element kBF16 = {"unsigned short", 16,
                       [](int v) { return encoded(static_cast<float>(v), 8, 7); }};
// The lower bits of tf32 are ignored.
const Element kTF32 = {"unsigned", 32,
                       [](int v) { return encoded(static_cast<float>(v), 8, 23) | 0x1abc; }};
const Element kE4M3 = {"unsigned char", 8,
                       [](int v) { return encoded(static_cast<float>(v), 4, 3); }};
const Element kE5M2 = {"unsigned char", 8,
                       [](int v) { return encoded(static_cast<float>(v), 5, 2); }};
const Element kInt8 = {"unsigned char", 8, [](int v) { return static_cast<unsigned>(v) & 255; }};
const Element kInt4 = {"unsigned char", 4, [](int v) { return static_cast<unsigned>(v) & 15; }};

// An mma whose registers a kernel fills by the formulas of the PTX ISA, where g is the lane / 4, t
// the lane % 4, i the number of an element in a lane's fragment.
struct Mma {
  const char* name;
  const char* instruction;
  int m, n, k;
  Element a, b;
  const char *a_row, *a_column, *b_row;
  bool integer;
  int (*a_value)(int r, int c);
  int (*b_value)(int r, int c);
};

int small(int r, int c) { return (r * 7 + c * 3) % 5 - 2; }
int other(int r, int c) { return (r * 5 + c * 11 + 1) % 7 - 3; }
int natural(int r, int c) { return (r * 37 + c * 11) % 16; }
int bytes(int r, int c) { return (r * 37 + c * 101) % 256; }

std::string constraints(const char* kind, const char* array, int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i == 0 ? "\"" : ", \"") + std::string(kind) + "\"(" + array + "[" + std::to_string(i) +
            "])";
  return list;
}
std::string placeholders(int first, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += (i == 0 ? "%" : ", %") + std::to_string(first + i);
  return list + "}";
}

std::string source_of(const Mma& mma) {
  const int per = 32 / static_cast<int>(mma.a.bits), na = mma.m * mma.k / 32 / per,
            nb = mma.k * mma.n / 32 / per, nc = mma.m * mma.n / 32;
  const auto define = [](const char* name, const std::string& value) {
    return "#define " + std::string(name) + " " + value + "\n";
  };
  const char* c = mma.integer ? "int" : "float";
  const std::string kind = mma.integer ? "r" : "f";
  return define("A_ROW", mma.a_row) + define("A_COLUMN", mma.a_column) +
         define("B_ROW", mma.b_row) + "__global__ void k(const " + mma.a.stored + "* a, const " +
         mma.b.stored + "* b, const " + c + "* c, " + c +
         "* d) {\n int g = threadIdx.x / 4, t = threadIdx.x % 4; unsigned ra[8] = {}, rb[8] = "
         "{}; " +
         c + " rc[8], rd[8];\n" + "for (int i = 0; i < " + std::to_string(na * per) +
         "; i++) ra[i / " + std::to_string(per) + "] |= (unsigned)a[(A_ROW) * " +
         std::to_string(mma.k) + " + (A_COLUMN)] << i % " + std::to_string(per) + " * " +
         std::to_string(mma.a.bits) + ";\n" + "for (int i = 0; i < " + std::to_string(nb * per) +
         "; i++) rb[i / " + std::to_string(per) + "] |= (unsigned)b[(B_ROW) * " +
         std::to_string(mma.n) + " + g] << i % " + std::to_string(per) + " * " +
         std::to_string(mma.b.bits) + ";\n" + "#define AT ((i < 2 ? g : g + 8) * " +
         std::to_string(mma.n) + " + t * 2 + (i & 1))\n" + "for (int i = 0; i < " +
         std::to_string(nc) + "; i++) rc[i] = c[AT];\n" + "asm volatile(\"" + mma.instruction +
         " " + placeholders(0, nc) + ", " + placeholders(nc, na) + ", " +
         placeholders(nc + na, nb) + ", " + placeholders(nc + na + nb, nc) +
         ";\" : " + constraints(("=" + kind).c_str(), "rd", nc) + " : " +
         constraints("r", "ra", na) + ", " + constraints("r", "rb", nb) + ", " +
         constraints(kind.c_str(), "rc", nc) + ");\n" + "for (int i = 0; i < " +
         std::to_string(nc) + "; i++) d[AT] = rd[i]; }";
}

template <class Stored>
BufferArgument add_matrix(Emulation& emulation, const char* name, const Element& element, int rows,
                          int columns, int (*value)(int, int)) {
  std::vector<Stored> bits;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      bits.push_back(static_cast<Stored>(element.bits_of(value(r, c))));
  }
  return emulation.input<Stored>(name, bits);
}
BufferArgument add_matrix(Emulation& emulation, const char* name, const Element& element, int rows,
                          int columns, int (*value)(int, int)) {
  if (element.bits == 32)
    return add_matrix<std::uint32_t>(emulation, name, element, rows, columns, value);
  if (element.bits == 16)
    return add_matrix<std::uint16_t>(emulation, name, element, rows, columns, value);
  return add_matrix<std::uint8_t>(emulation, name, element, rows, columns, value);
}

template <class T>
void expect_product(const Mma& mma) {
  Emulation emulation(source_of(mma), {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  const auto a = add_matrix(emulation, "a", mma.a, mma.m, mma.k, mma.a_value);
  const auto b = add_matrix(emulation, "b", mma.b, mma.k, mma.n, mma.b_value);
  std::vector<T> sums(static_cast<std::size_t>(mma.m * mma.n));
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<T>(i) - 40;
  const auto c = emulation.input<T>("c", sums);
  const auto d = emulation.output<T>("d", sums.size());
  emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {a, b, c, d});
  const Result result = emulation.run();
  ASSERT_FALSE(result.fault) << result.fault->message;
  for (int r = 0; r < mma.m; ++r) {
    for (int col = 0; col < mma.n; ++col) {
      for (int l = 0; l < mma.k; ++l)
        sums[static_cast<std::size_t>(r * mma.n + col)] +=
            static_cast<T>(mma.a_value(r, l) * mma.b_value(l, col));
    }
  }
  EXPECT_EQ(emulation.values<T>(d), sums);
}

class Products : public ::testing::TestWithParam<Mma> {};
TEST_P(Products, HaveTheLayoutOfTheIsa) {
  if (GetParam().integer) return expect_product<int>(GetParam());
  expect_product<float>(GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    Machine, Products,
    ::testing::Values(
        Mma{"m16n8k16_f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, kF16,
            kF16, "(i < 2 || (i >= 4 && i < 6) ? g : g + 8)", "t * 2 + (i & 1) + (i >= 4 ? 8 : 0)",
            "t * 2 + (i & 1) + (i >= 2 ? 8 : 0)", false, small, other},
        Mma{"m16n8k8_f16", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, kF16, kF16,
            "(i < 2 ? g : g + 8)", "t * 2 + (i & 1)", "t * 2 + (i & 1)", false, small, other},
        Mma{"m16n8k16_bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16,
            kBF16, kBF16, "(i < 2 || (i >= 4 && i < 6) ? g : g + 8)",
            "t * 2 + (i & 1) + (i >= 4 ? 8 : 0)", "t * 2 + (i & 1) + (i >= 2 ? 8 : 0)", false,
            small, other},
        Mma{"m16n8k8_tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, kTF32,
            kTF32, "(i % 2 == 0 ? g : g + 8)", "t + (i >= 2 ? 4 : 0)", "t + (i == 1 ? 4 : 0)",
            false, small, other},
        Mma{"m16n8k4_tf32", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, kTF32,
            kTF32, "(i == 0 ? g : g + 8)", "t", "t", false, small, other},
        Mma{"m16n8k32_e4m3_e5m2", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32,
            kE4M3, kE5M2, "(i < 4 || (i >= 8 && i < 12) ? g : g + 8)",
            "t * 4 + (i & 3) + (i >= 8 ? 16 : 0)", "t * 4 + (i & 3) + (i >= 4 ? 16 : 0)", false,
            small, other},
        Mma{"m16n8k32_s8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, kInt8,
            kInt8, "(i < 4 || (i >= 8 && i < 12) ? g : g + 8)",
            "t * 4 + (i & 3) + (i >= 8 ? 16 : 0)", "t * 4 + (i & 3) + (i >= 4 ? 16 : 0)", true,
            small, other},
        Mma{"m16n8k16_u8_s8", "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32", 16, 8,
            16, kInt8, kInt8, "(i < 4 ? g : g + 8)", "t * 4 + (i & 3)", "t * 4 + (i & 3)", true,
            bytes, other},
        Mma{"m8n8k16_u8", "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", 8, 8, 16, kInt8, kInt8,
            "g", "t * 4 + i", "t * 4 + i", true, bytes, bytes},
        Mma{"m16n8k64_s4_u4", "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 16, 8, 64, kInt4,
            kInt4, "(i < 8 || (i >= 16 && i < 24) ? g : g + 8)",
            "t * 8 + (i & 7) + (i >= 16 ? 32 : 0)", "t * 8 + (i & 7) + (i >= 8 ? 32 : 0)", true,
            small, natural}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- wmma ----

// C of m x n = A B + C by wmma, where the kernel doubles every element of the result and adds one
// to each of A.
struct Wmma {
  const char* name;
  int m, n, k;
  const char *element, *fragment_element, *result;
  const char *a_layout, *b_layout, *c_layout;
};

bool by_rows(const char* layout) { return std::string_view(layout) == "row"; }

std::string source_of(const Wmma& w) {
  const std::string shape =
      std::to_string(w.m) + ", " + std::to_string(w.n) + ", " + std::to_string(w.k) + ", ";
  const auto stride = [](const char* layout, int rows, int columns) {
    return std::to_string((by_rows(layout) ? columns : rows) + 16);
  };
  const std::string element = w.fragment_element, memory = w.element;
  return "#include <mma.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nusing namespace "
         "nvcuda;\n"
         "__global__ void k(const float* fa, const float* fb, const float* fc, float* fd) {\n"
         "__shared__ __align__(32) " +
         memory + " a[32 * 48], b[32 * 48]; __shared__ __align__(32) " + w.result +
         " c[32 * 48];\n"
         "for (int i = threadIdx.x; i < 32 * 48; i += 32) { a[i] = (" +
         memory + ")fa[i]; b[i] = (" + memory + ")fb[i]; c[i] = (" + w.result +
         ")fc[i]; } __syncwarp();\n"
         "wmma::fragment<wmma::matrix_a, " +
         shape + element + ", wmma::" + w.a_layout + "_major> A; wmma::fragment<wmma::matrix_b, " +
         shape + element + ", wmma::" + w.b_layout +
         "_major> B; wmma::fragment<wmma::accumulator, " + shape + w.result +
         "> C;\n"
         "wmma::load_matrix_sync(A, a, " +
         stride(w.a_layout, w.m, w.k) + "); wmma::load_matrix_sync(B, b, " +
         stride(w.b_layout, w.k, w.n) + "); wmma::load_matrix_sync(C, c, " +
         stride(w.c_layout, w.m, w.n) + ", wmma::mem_" + w.c_layout +
         "_major);\n"
         "for (int i = 0; i < A.num_elements; i++) A.x[i] = (" +
         memory +
         ")((float)A.x[i] + 1.0f);\n"
         "wmma::mma_sync(C, A, B, C); for (int i = 0; i < C.num_elements; i++) C.x[i] = (" +
         w.result +
         ")((float)C.x[i] * 2.0f);\n"
         "wmma::store_matrix_sync(c, C, " +
         stride(w.c_layout, w.m, w.n) + ", wmma::mem_" + w.c_layout +
         "_major); __syncwarp();\n"
         "for (int i = threadIdx.x; i < 32 * 48; i += 32) fd[i] = (float)c[i]; }";
}

class FragmentsOfWmma : public ::testing::TestWithParam<Wmma> {};
TEST_P(FragmentsOfWmma, AgreeWithEachOther) {
  const Wmma& w = GetParam();
  Emulation emulation(source_of(w), {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  constexpr std::size_t kElements = 32 * 48;
  const auto filled = [&](int rows, int columns, const char* layout, int (*value)(int, int)) {
    std::vector<float> matrix(kElements, 77.0f);
    const int stride = (by_rows(layout) ? columns : rows) + 16;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        matrix[static_cast<std::size_t>(by_rows(layout) ? r * stride + c : c * stride + r)] =
            static_cast<float>(value(r, c));
      }
    }
    return matrix;
  };
  const auto unsigned_value = [](int r, int c) { return (r * 3 + c * 5) % 7; };
  auto expected = filled(w.m, w.n, w.c_layout, other);
  const auto a = emulation.input("a", filled(w.m, w.k, w.a_layout, unsigned_value));
  const auto b = emulation.input("b", filled(w.k, w.n, w.b_layout, unsigned_value));
  const auto c = emulation.input("c", expected);
  const auto d = emulation.output<float>("d", kElements);
  emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {a, b, c, d});
  const Result result = emulation.run();
  ASSERT_FALSE(result.fault) << result.fault->message;
  const int stride = (by_rows(w.c_layout) ? w.n : w.m) + 16;
  for (int r = 0; r < w.m; ++r) {
    for (int col = 0; col < w.n; ++col) {
      int sum = other(r, col);
      for (int l = 0; l < w.k; ++l) sum += (unsigned_value(r, l) + 1) * unsigned_value(l, col);
      expected[static_cast<std::size_t>(
          by_rows(w.c_layout) ? r * stride + col : col * stride + r)] = static_cast<float>(2 * sum);
    }
  }
  EXPECT_EQ(emulation.values<float>(d), expected);
}
INSTANTIATE_TEST_SUITE_P(
    Machine, FragmentsOfWmma,
    ::testing::Values(
        Wmma{"f16", 16, 16, 16, "half", "half", "float", "row", "col", "row"},
        Wmma{"f16_other_layouts", 16, 16, 16, "half", "half", "float", "col", "row", "col"},
        Wmma{"f16_result", 16, 16, 16, "half", "half", "half", "row", "row", "row"},
        Wmma{"f16_result_by_columns", 16, 16, 16, "half", "half", "half", "col", "col", "col"},
        Wmma{"f16_tall", 32, 8, 16, "half", "half", "float", "row", "row", "row"},
        Wmma{"f16_wide", 8, 32, 16, "half", "half", "float", "col", "col", "row"},
        Wmma{"bf16", 16, 16, 16, "__nv_bfloat16", "__nv_bfloat16", "float", "row", "row", "row"},
        Wmma{"bf16_tall", 32, 8, 16, "__nv_bfloat16", "__nv_bfloat16", "float", "col", "row",
             "col"},
        Wmma{"s8", 16, 16, 16, "signed char", "signed char", "int", "row", "col", "row"},
        Wmma{"s8_other_layouts", 16, 16, 16, "signed char", "signed char", "int", "col", "row",
             "col"},
        Wmma{"u8_wide", 8, 32, 16, "unsigned char", "unsigned char", "int", "row", "row", "row"},
        Wmma{"tf32", 16, 16, 8, "float", "wmma::precision::tf32", "float", "row", "col", "row"},
        Wmma{"tf32_other_layouts", 16, 16, 8, "float", "wmma::precision::tf32", "float", "col",
             "row", "col"},
        Wmma{"f64", 8, 8, 4, "double", "double", "double", "row", "col", "row"},
        Wmma{"f64_other_layouts", 8, 8, 4, "double", "double", "double", "col", "row", "col"}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- rows of 8 x 8 matrices ----

std::vector<unsigned> run_on_words(const std::string& body, std::size_t n) {
  Emulation emulation(
      "__global__ void k(unsigned* y) { __shared__ __align__(16) unsigned short s[256]; int t = "
      "threadIdx.x; for (int i = t; i < 256; i += 32) s[i] = i; __syncwarp();\n" +
          body + "\n}",
      {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  const auto y = emulation.output<unsigned>("y", n);
  emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {y});
  const Result result = emulation.run();
  EXPECT_FALSE(result.fault) << result.fault->message;
  return emulation.values<unsigned>(y);
}

// Element (r, c) of the matrix n is 64 n + 8 r + c.
unsigned two(unsigned n, unsigned r, unsigned c, unsigned down, unsigned right) {
  const unsigned first = 64 * n + 8 * r + c;
  return first | (first + 8 * down + right) << 16;
}

TEST(Matrices, AreLoadedByRows) {
  const auto y = run_on_words(
      R"(unsigned r[4], p = __cvta_generic_to_shared(&s[t * 8]);
asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
             : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
             : "r"(p));
for (int i = 0; i < 4; i++) y[i * 32 + t] = r[i];)",
      128);
  for (unsigned n = 0; n < 4; ++n) {
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(y[n * 32 + t], two(n, t / 4, t % 4 * 2, 0, 1));
  }
}

TEST(Matrices, AreLoadedTransposed) {
  const auto y = run_on_words(
      R"(unsigned r[2], p = __cvta_generic_to_shared(&s[t % 16 * 8]);
asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
             : "=r"(r[0]), "=r"(r[1])
             : "r"(p));
y[t] = r[0];
y[32 + t] = r[1];)",
      64);
  for (unsigned n = 0; n < 2; ++n) {
    for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(y[n * 32 + t], two(n, t % 4 * 2, t / 4, 1, 0));
  }
}

TEST(Matrices, AreStoredAndTransposed) {
  const auto y = run_on_words(
      R"(unsigned v = t | 100 + t << 16, w, p = __cvta_generic_to_shared(&s[t % 8 * 8]);
asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(w) : "r"(v));
asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(p), "r"(w)
             : "memory");
__syncwarp();
y[t] = s[2 * t];
y[32 + t] = s[2 * t + 1];)",
      64);
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(y[t], t);
    EXPECT_EQ(y[32 + t], 100 + t);
  }
}

TEST(Matrices, OutOfBoundsAreAFault) {
  Emulation emulation(
      R"(#include <mma.h>
using namespace nvcuda;
__global__ void k(const half* x, float* y) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f); wmma::fill_fragment(b, half(1.0f));
  wmma::load_matrix_sync(a, x, 32);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
})",
      {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  const auto x = emulation.input<std::uint16_t>("x", std::vector<std::uint16_t>(256, 0x3c00));
  const auto y = emulation.output<float>("y", 256);
  emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {x, y});
  const Result result = emulation.run();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::kIllegalAddress) << result.fault->message;
  EXPECT_EQ(result.fault->line, 8u);
}

// ---- rounding, and what is refused ----

// The sum is that of f32, in the order of the columns: 2^24 swallows ones that come after it.
TEST(Products, RoundAfterEachAddition) {
  Emulation emulation(
      "__global__ void k(float* y) { float c[4] = {16777216.0f, 0, 0, 0}, d[4]; unsigned one = "
      "0x3c003c00; asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, "
      "%3}, {%4, %4, %4, %4}, {%4, %4}, {%5, %6, %6, %6};\" : \"=f\"(d[0]), \"=f\"(d[1]), "
      "\"=f\"(d[2]), \"=f\"(d[3]) : \"r\"(one), \"f\"(c[0]), \"f\"(c[1])); if (threadIdx.x == 0) { "
      "y[0] = d[0]; y[1] = d[1]; } }",
      {"k"});
  const auto y = emulation.output<float>("y", 2);
  emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {y});
  EXPECT_FALSE(emulation.run().fault);
  EXPECT_EQ(emulation.values<float>(y), (std::vector<float>{16777216.0f, 16.0f}));
}

TEST(Products, OfIntegersAreClampedWhereTheInstructionSaysSo) {
  Emulation emulation(
      R"(#define MMA(how, y)                                             \
  asm volatile("mma.sync.aligned.m8n8k16.row.col" how           \
               ".s32.u8.u8.s32 {%0, %1}, {%2}, {%2}, {%3, %3};" \
               : "=r"(d[0]), "=r"(d[1])                         \
               : "r"(ones), "r"(0x7ffffff8));                   \
  if (threadIdx.x == 0) y = d[0];
__global__ void k(int* y) {
  unsigned ones = 0x01010101;
  int d[2];
  MMA(".satfinite", y[0]) MMA("", y[1])
})",
      {"k"});
  ASSERT_EQ(emulation.compile_log(), "");
  const auto y = emulation.output<int>("y", 2);
  emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {y});
  EXPECT_FALSE(emulation.run().fault);
  EXPECT_EQ(emulation.values<int>(y), (std::vector<int>{0x7fffffff, -0x7ffffff8}));
}

TEST(Products, NeedAWholeWarp) {
  const char* mma =
      R"(__global__ void k(int* y) {
  if (threadIdx.x < LANES) {
    unsigned a = 1;
    int d[2];
    asm volatile(
        "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%2}, {%3, %3};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a), "r"(0));
    y[threadIdx.x] = d[0];
  }
})";
  for (const int threads : {16, 48}) {
    Emulation emulation("#define LANES 1024\n" + std::string(mma), {"k"});
    const auto y = emulation.output<int>("y", 64);
    emulation.launch(0, {1, 1, 1}, {static_cast<std::uint32_t>(threads), 1, 1}, {y});
    const Result result = emulation.run();
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::kDivergentBarrier);
    EXPECT_EQ(result.fault->message,
              "a matrix operation takes all 32 threads of a warp, but only 16 execute it");
  }
}

TEST(Products, OfUnknownKindsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0, %0, %0, %0, %0, %0, %0, %0}, {%1, "
       "%1}, "
       "{%1, %1}, {%0, %0, %0, %0, %0, %0, %0, %0};",
       "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"},
      {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%1, %1, %1, %1}, {%1, %1, %1, "
       "%1}, {%1, %1}, {%1, %1, %1, %1};",
       "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"}};
  for (const auto& [instruction, name] : cases) {
    Emulation emulation(
        "__global__ void k(float* y) { float f = y[0]; unsigned u = y[1]; asm "
        "volatile(\"" +
            std::string(instruction) + "\" : \"+f\"(f), \"+r\"(u)); y[0] = f + u; }",
        {"k"});
    ASSERT_EQ(emulation.compile_log(), "");
    const auto y = emulation.output<float>("y", 2);
    emulation.launch(0, {1, 1, 1}, {32, 1, 1}, {y});
    const Result result = emulation.run();
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::kUnsupported);
    EXPECT_EQ(result.fault->message, name);
  }
}

}  // namespace
}  // namespace krl::machine
