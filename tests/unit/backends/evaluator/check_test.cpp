// The parts of a check that need no process: source, diagnostics, inputs, comparison, plan.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/element.hpp"
#include "plugins/backends/evaluator/check/evaluation_plan.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/check/run_plan.hpp"
#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"
#include "plugins/backends/evaluator/source/static_checks.hpp"

namespace krl::evaluator {
namespace {

std::string refusal(std::string_view source, const std::vector<std::string>& forbidden = {}) {
  const auto scanned = scan_source(source);
  if (!scanned) return scanned.error().text();
  const auto problem = check_source(*scanned, forbidden, "sm_87");
  return problem ? problem->text() : "";
}

TEST(StaticChecksTest, NamesPlaceAndReason) {
  EXPECT_EQ(refusal("int a;\n  __TIME__"),
            "line 2, column 3: '__TIME__' depends on when it is compiled");
  EXPECT_EQ(refusal("int a = b;", {"b"}), "line 1, column 9: the task forbids 'b'");
  EXPECT_EQ(refusal("#define P(a) a##f\nP(exp)(1)", {"expf"}),
            "line 2, column 3: 'exp' could become a forbidden name by pasting (##); write "
            "names out");
}

TEST(StaticChecksTest, NamesOfTritonAreThoseOfPython) {
  const std::string triton = "import triton\nx = maximum  # minimum\n";
  EXPECT_EQ(refusal(triton, {"minimum"}), "");
  EXPECT_EQ(refusal(triton, {"maximum"}),
            "line 2, column 5: 'maximum' is not allowed in this task");
  EXPECT_EQ(refusal("import triton\nx = \uff4daximum\n", {"maximum"}),  // Python reads maximum
            "line 2, column 5: a character beyond ASCII outside of comments and texts");
  EXPECT_EQ(refusal("import triton\nkrl_x = 1\n"),
            "line 2, column 1: 'krl_x' is a name of the harness");
}

// To NVRTC the source ends there.
TEST(StaticChecksTest, RefusesBytesThatEndTheSource) {
  using namespace std::string_literals;
  EXPECT_EQ(refusal("// a\n// \xff b"), "line 2, column 4: the byte 0xff is not allowed");
  EXPECT_EQ(refusal("// a\0"s), "line 1, column 5: a control character is not allowed");
  EXPECT_EQ(refusal("// \xc3\xa9 \xe9"), "");
}

TEST(StaticChecksTest, SaysWhatToDoWithoutAHeader) {
  EXPECT_EQ(refusal("#include <torch/extension.h>"),
            "line 1, column 2: #include <torch/extension.h>: belongs to host code: leave it out, "
            "only kernels and @launch are compiled");
  EXPECT_EQ(refusal("#include <cub/device/device_reduce.cuh>"),
            "line 1, column 2: #include <cub/device/device_reduce.cuh>: calls the device from the "
            "host: include cub/block/…, cub/warp/… or cub/thread/…");
  EXPECT_EQ(refusal("#include \"x\""),
            "line 1, column 2: #include \"x\": device code has no such header; leave it out");
}

TEST(StaticChecksTest, ReadsTheNamesOfKernelsInDirectives) {
  EXPECT_EQ(refusal("\n  // @launch k<f(__TIME__)><<<1, 1>>>()"),
            "line 2, column 18: '__TIME__' depends on when it is compiled");
  EXPECT_EQ(refusal("// @launch k<b><<<1, b>>>()", {"b"}),
            "line 1, column 14: the task forbids 'b'");
  EXPECT_EQ(refusal("// @launch k<<<1, b>>>()", {"b"}), "");
}

TEST(StaticChecksTest, SeesThroughDisguises) {
  for (const char* source : {"__TI\\\nME\\\n__",
                             "__TI\\  \nME__",
                             "// \\ \n#include \"x\"",
                             "#define A \xc2\xa0R\"(\n/*)\"\n__TIME__",
                             "\xc2\xa0#include \"x\"",
                             "#define A 1\xc2\xa0__TIME__",
                             "1'\x80/*\n__TIME__",
                             "x /*\n*/#include \"x\"",
                             "#if 0\n1'0 /*\n#endif\n__TIME__",
                             "#define X __TIME__\nX;",
                             "%:include \"x\"",
                             "/* */ # /* */ include \"/etc/passwd\"",
                             "?\?=include <x>",
                             "#if 0\n' /*\n#endif\n__TIME__;",
                             "\"/*\" ; __TIME__; // */",
                             "x = 'a' /* */; __TIME__;",
                             "int x = 1'0/*'*/; __TIME__;",
                             "_Pragma(\"GCC optimize\")",
                             "__attribute__((section(\"x\")))",
                             "<:<:gnu::x]]",
                             "\\u0061sm",
                             "R\"(x",
                             "R\"(\\\n)\"",
                             "R\"a b(x)a b\"",
                             "R\"(\n#include \"x\"\n)\"",
                             "#if 0\nR\"x(\n#endif\n__TIME__\n#if 0\n)x\"\n#endif",
                             "R\"x(\"(\n)x\" __TIME__",
                             "R\"(\n#define P(a, b) a##b\n)\"",
                             "#define P(a, b) a ## b\nP(__TI, ME__)",
                             "#define P(a, b) a %:%: b\nP(_, _attribute__)((section(\"x\")))",
                             "#include <cuda/std/>",
                             "#include <cuda/std/../x>",
                             "#include <cub/block/x.h>",
                             "#include <cub/block//x.cuh>",
                             "#line 5 \"x\"",
                             "#embed \"x\"",
                             "__has_include(<x>)",
                             "#define float double",
                             "KRL_KERNEL(0, f)",
                             "int \x01 x;",
                             "f<<<1, 2>>>();"}) {
    EXPECT_NE(refusal(source), "") << source;
  }
}

TEST(StaticChecksTest, LetsPlainCodeThrough) {
  for (const char* source : {"// asm #include <x>\nint a;",
                             "/* asm */",
                             "const char* s = \"asm \\\" asm\";",
                             "int x = 1'000'000;",
                             "#pragma unroll 4\nfor (;;) {}",
                             "#define SQR(x) ((x) * (x))",
                             "extern __shared__ float s[];",
                             "extern \"C\" __global__ void k() {}",
                             "a[b[c]] = 1;",
                             "x = y << 2;",
                             "#include <cuda_runtime.h>",
                             "__attribute__((aligned(16))) float v[4];",
                             "#include <cuda/std/array>",
                             "#include <cub/block/block_scan.cuh>",
                             "asm(R\"x(\n\"asm\", )\"\n)x\");",
                             "auto s = u8R\"(\")\"; int a;",
                             "#define P(a, b) a##b\nint P(x, 1) = __popc(x2);",
                             "[[maybe_unused]] int q;",
                             "if (a<::b) {}",
                             "#if defined(X)\n#endif"}) {
    EXPECT_EQ(refusal(source), "") << source;
  }
}

TEST(StaticChecksTest, LeavesTheCompiledCodeToItsOwnChecks) {
  for (const char* source :
       {"asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(lane));", "int free = 3, malloc = 4;",
        "float (*f)(float) = g;", "extern \"C\" {", "extern int x;", "__builtin_assume(n > 0);",
        "if (false) printf(\"\");", "struct A { virtual int f(); };"}) {
    EXPECT_EQ(refusal(source), "") << source;
  }
}

TEST(StaticChecksTest, EndsOnAnyBytes) {
  std::uint64_t state = 1;
  const std::string_view alphabet = "#\"'/*\\\n<>:%=_asmR(){}[] \t0x1'?\r\x01\xff";
  for (int round = 0; round < 3000; ++round) {
    std::string source;
    for (int i = 0; i < 60; ++i) source += alphabet[(state = mix_seed(state, i)) % alphabet.size()];
    refusal(source);
  }
}

TEST(DiagnosticsTest, DoNotTellWhetherAFileExists) {
  for (const char* reason : {"", ": Permission denied", ": is a directory", ": Not a directory"}) {
    EXPECT_EQ(clean_log("kernel.cu(1): catastrophic error: cannot open source file \"/a/b\"" +
                        std::string(reason)),
              "kernel.cu(1): catastrophic error: cannot open source file \"b\"\n");
  }
  for (const char* reason : {"No such file or directory", "Permission denied", "Is a directory"}) {
    EXPECT_EQ(clean_log("kernel.cu:1:10: fatal error: /a/b: " + std::string(reason)),
              "kernel.cu:1:10: fatal error: b: No such file or directory\n");
  }
}

TEST(DiagnosticsTest, ReadsMessagesOfTheAssembler) {
  const auto found = parse_diagnostics(
      "ptxas application ptx input, line 35; error   : Arguments mismatch for 'mov'\n"
      "ptxas application ptx input, line 36; fatal   : Parsing error near 'x'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n",
      "kernel.cu");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(first_error(found), "Arguments mismatch for 'mov'");
  EXPECT_EQ(found[1].text, "Parsing error near 'x'");
}

TEST(DiagnosticsTest, ReadsMessagesOfTheCandidate) {
  const auto found = parse_diagnostics(
      "kernel.cu: In function 'void k()':\nkernel.cu:3:5: error: 'x' was not declared\n"
      "kernel.cu:3:5: error: 'x' was not declared\nkernel.cu:9:1: warning: unused [-Wunused]\n"
      "launch:1:3: error: no kernel\n",
      "kernel.cu");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], (Diagnostic{KRL_SEVERITY_ERROR, 3, 5, "", "'x' was not declared"}));
  EXPECT_EQ(found[1], (Diagnostic{KRL_SEVERITY_WARNING, 9, 1, "-Wunused", "unused"}));
  EXPECT_EQ(found[2].line, 0u);
  EXPECT_EQ(first_error(found), "line 3: 'x' was not declared");
}

TEST(DiagnosticsTest, LogsHideTheMachine) {
  EXPECT_EQ(clean_log("In file /home/me/secret/krl_device.h:3, from x\na / b\n"),
            "In file krl_device.h:3, from x\na / b\n");
  EXPECT_EQ(clean_log("bad \xff byte"), "bad ? byte\n");
  EXPECT_LE(clean_log(std::string(100'000, 'x') + "\n" + std::string(100'000, '\n')).size(),
            kMaxLogBytes);
}

TEST(DiagnosticsTest, ALineOfAnyLengthIsCutAndTheNextIsRead) {
  const std::string log = "kernel.cu(1): warning: " + std::string(100'000, 'x') +
                          "\nkernel.cu(2): error: no \"" + std::string(2'000, 'y') + "\"\n";
  const std::string cleaned = clean_log(log);
  EXPECT_LE(cleaned.size(), 2 * (kMaxLogLineBytes + 1));
  EXPECT_EQ(first_error(parse_diagnostics(cleaned, "kernel.cu")).substr(0, 12), "line 2: no \"");
  // Cut between characters, whatever their length is.
  for (int shift = 0; shift < 4; ++shift) {
    std::string wide(shift, '-');
    while (wide.size() < 2 * kMaxLogLineBytes) wide += "\xe2\x82\xac";
    EXPECT_EQ(clean_log(wide).find('?'), std::string::npos);
  }
}

ResolvedTensor tensor(DType type, std::vector<std::int64_t> shape, ValueKind kind) {
  ResolvedTensor t;
  t.name = "t";
  t.dtype = type;
  t.shape = std::move(shape);
  t.elements = 1;
  for (const auto size : t.shape) t.elements *= size;
  t.values = kind;
  return t;
}

std::vector<std::byte> filled(const ResolvedTensor& t, std::uint64_t seed,
                              Distribution distribution = Distribution::kAsGiven) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(t.bytes()));
  fill_input(t, seed, distribution, bytes);
  return bytes;
}

std::vector<float> floats(const ResolvedTensor& t, std::uint64_t seed, Distribution distribution) {
  const auto bytes = filled(t, seed, distribution);
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<std::int32_t> integers(const ResolvedTensor& t, std::uint64_t seed,
                                   Distribution distribution) {
  const auto bytes = filled(t, seed, distribution);
  std::vector<std::int32_t> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(InputsTest, FollowSeedAndDistribution) {
  const auto t = tensor(DType::kFloat32, {1001}, ValueKind::kNormal);
  EXPECT_EQ(filled(t, 1), filled(t, 1));
  EXPECT_NE(filled(t, 1), filled(t, 2));
  const auto plain = filled(t, 1), reduced = filled(t, 1, Distribution::kHundredth);
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < 1000; ++i) {  // the ends may be outliers
    const float x = load_as<float>(plain.data() + 4 * i);
    EXPECT_NEAR(load_as<float>(reduced.data() + 4 * i), 0.01 * x, 1e-7);
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / 1001, 0, 0.15);
  EXPECT_NEAR(squares / 1001, 1, 0.2);
}

TEST(InputsTest, EnlargedRowsHaveOutliersOrLieBelowZero) {
  for (const ValueKind kind : {ValueKind::kNormal, ValueKind::kUniformSigned}) {
    const auto t = tensor(DType::kFloat32, {400, 20}, kind);
    const auto enlarged = filled(t, 1, Distribution::kHundredfold);
    const auto reduced = filled(t, 1, Distribution::kHundredth);
    std::map<int, int> rows;  // by the place of the outlier, -1 if all elements lie below 0
    for (std::size_t row = 0; row < 400; ++row) {
      int negative = 0;
      for (std::size_t i = 20 * row; i < 20 * row + 20; ++i) {
        EXPECT_LT(load_as<float>(reduced.data() + 4 * i), 0.06);
        const float x = load_as<float>(enlarged.data() + 4 * i);
        if (x >= 800) ++rows[static_cast<int>(i % 20)];
        negative += x <= -100 ? 1 : 0;
      }
      if (negative == 20) ++rows[-1];
    }
    EXPECT_EQ(rows[-1], 100);
    EXPECT_EQ(rows[0], 100);
    EXPECT_EQ(rows[19], 100);
    EXPECT_EQ(rows.size(), 3u);
  }
}

TEST(InputsTest, OddHalvesAreAllButZero) {
  for (const ValueKind kind : {ValueKind::kNormal, ValueKind::kUniformSigned}) {
    std::set<float> seen;
    const auto bytes = filled(tensor(DType::kFloat32, {500}, kind), 5, Distribution::kOddHalves);
    for (std::size_t i = 0; i < 500; ++i) seen.insert(load_as<float>(bytes.data() + 4 * i));
    EXPECT_EQ(seen, (std::set<float>{-3.5f, -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f}));
  }
}

std::set<float> row_of(const std::vector<float>& values, std::size_t row, std::size_t length) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * length);
  return {first, first + static_cast<std::ptrdiff_t>(length)};
}

// What a kernel gets away with where all values are well spread and different.
TEST(InputsTest, StructuredRowsAreConstantSortedSparseAndTied) {
  constexpr std::size_t kRows = 400, kLength = 100;
  const auto t = tensor(DType::kFloat32, {kRows, kLength}, ValueKind::kNormal);
  const auto values = floats(t, 1, Distribution::kStructured);
  int constant = 0, zeros = 0, single = 0, two = 0, ascending = 0, descending = 0, lane = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * kLength);
    const auto last = first + kLength;
    const std::set<float> seen = row_of(values, row, kLength);
    const bool has_zero = seen.contains(0.0f);
    constant += seen.size() == 1 && !has_zero ? 1 : 0;
    zeros += seen.size() == 1 && has_zero ? 1 : 0;
    single += seen.size() == 2 && has_zero ? 1 : 0;
    two += seen == std::set<float>{-1, 1} ? 1 : 0;
    const bool varied = seen.size() > 2;
    ascending += varied && std::is_sorted(first, last) ? 1 : 0;
    descending += varied && std::is_sorted(first, last, std::greater<>()) ? 1 : 0;
    std::set<std::ptrdiff_t> lanes;
    for (auto at = first; at != last; ++at) {
      if (*at >= 4) lanes.insert((at - first) % 32);
    }
    lane += varied && lanes.size() == 1 ? 1 : 0;
  }
  for (const int count : {constant, zeros, single, two, ascending, descending, lane})
    EXPECT_GT(count, 20);
}

TEST(InputsTest, RealsLieAroundAnOffsetBelowZeroAndAtEverySize) {
  const auto t = tensor(DType::kFloat32, {200, 50}, ValueKind::kNormal);
  std::set<float> offsets;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto around = floats(t, seed, Distribution::kOffset);
    offsets.insert(std::round(around[0] / 20));
    for (const float x : around) EXPECT_NEAR(x, around[0], 12);
  }
  EXPECT_EQ(offsets, (std::set<float>{-819, -5, 5}));
  const auto below = floats(t, 1, Distribution::kBelow);
  for (const float x : below) EXPECT_GE(std::fabs(x), 0x1p14f);
  const auto above = std::ranges::count_if(below, [](float x) { return x > 0; });
  EXPECT_GT(above, 20) << "in one lane of a row";
  EXPECT_NEAR(std::ranges::count_if(below, [](float x) { return x <= -0x1p70f; }), 1250, 600);
  EXPECT_LT(above, 120);
  const auto large = floats(t, 1, Distribution::kLarge), small = floats(t, 1, Distribution::kSmall);
  EXPECT_GT(*std::ranges::max_element(large), 3 * 0x1p28f);
  std::set<int> exponents;
  bool subnormal = false;
  for (std::size_t row = 0; row < 200; ++row) {
    const float most = *row_of(small, row, 50).rbegin();
    EXPECT_LT(most, 0x1p-5f);
    EXPECT_GT(most, 0);
    exponents.insert(std::ilogb(most));
    subnormal |= most < 0x1p-126f;
  }
  EXPECT_GT(exponents.size(), 25u);
  EXPECT_FALSE(subnormal);
  const auto least = floats(t, 1, Distribution::kSubnormal);
  EXPECT_LT(std::ranges::count_if(least, [](float x) { return std::fabs(x) >= 0x1p-126f; }), 6000);
  int all_far = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    all_far += std::ranges::max(floats(t, seed, Distribution::kBelow)) <= -0x1p70f ? 1 : 0;
  EXPECT_NEAR(all_far, 10, 7);
  auto half = tensor(DType::kFloat16, {200, 50}, ValueKind::kNormal);
  for (const Distribution d : {Distribution::kLarge, Distribution::kBelow}) {
    const auto bytes = filled(half, 1, d);
    for (std::size_t i = 0; i < 10'000; ++i)
      EXPECT_TRUE(std::isfinite(load_real(DType::kFloat16, bytes.data() + 2 * i)));
  }
}

TEST(InputsTest, HalfOfTheRowsHaveARareLargeValue) {
  const auto t = tensor(DType::kFloat32, {400, 50}, ValueKind::kNormal);
  const auto values = floats(t, 1, Distribution::kRare);
  std::set<std::size_t> rows, places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::fabs(values[i]) <= 3.5 && values[i] != std::floor(values[i])) continue;
    EXPECT_GE(std::fabs(values[i]), 256);
    EXPECT_EQ(values[i], std::floor(values[i])) << "sums are exact";
    EXPECT_TRUE(rows.insert(i / 50).second);
    places.insert(i % 50);
  }
  EXPECT_NEAR(static_cast<double>(rows.size()), 200, 40);
  EXPECT_GT(places.size(), 40u);
}

TEST(InputsTest, RealsInBoundsStayThere) {
  auto t = tensor(DType::kFloat32, {100, 30}, ValueKind::kUniform);
  t.low = 0, t.high = 2;
  for (std::size_t d = 0; d < kDistributions; ++d) {
    for (const float x : floats(t, 1, static_cast<Distribution>(d))) {
      EXPECT_GT(x, 0);
      EXPECT_LE(x, 2);
    }
  }
  const auto small = floats(t, 1, Distribution::kSmall);
  EXPECT_LT(*std::ranges::max_element(small), 1e-8f);
}

// Keys that are all equal, in order, or nearly all the same.
TEST(InputsTest, WholeNumbersAreSkewedButAtOddHalves) {
  auto t = tensor(DType::kInt32, {400, 60}, ValueKind::kIntegers);
  t.low = -2, t.high = 46;
  const auto skewed = integers(t, 1, Distribution::kHundredth);
  int equal = 0, ascending = 0, few = 0;
  for (std::size_t row = 0; row < 400; ++row) {
    const auto first = skewed.begin() + static_cast<std::ptrdiff_t>(60 * row);
    const std::set<std::int32_t> seen(first, first + 60);
    EXPECT_GE(*seen.begin(), -2);
    EXPECT_LT(*seen.rbegin(), 46);
    equal += seen.size() == 1 ? 1 : 0;
    few += seen.size() == 2 ? 1 : 0;
    ascending += seen.size() > 10 && std::is_sorted(first, first + 60) ? 1 : 0;
  }
  for (const int count : {equal, few, ascending}) EXPECT_GT(count, 20);
  EXPECT_EQ(integers(t, 1, Distribution::kOddHalves), integers(t, 1, Distribution::kAsGiven));
}

TEST(InputsTest, FlagsAreAllNoneOrSomeAndAnythingButZero) {
  for (const ValueKind kind : {ValueKind::kBernoulli, ValueKind::kFlags}) {
    auto t = tensor(DType::kInt32, {400, 60}, kind);
    t.high = 0.1;
    const auto flags = integers(t, 1, Distribution::kSmall);
    std::set<std::int32_t> values(flags.begin(), flags.end());
    const bool plain = kind == ValueKind::kBernoulli;
    if (plain) {
      EXPECT_EQ(values, (std::set<std::int32_t>{0, 1}));
    }
    if (kind == ValueKind::kFlags) {
      const std::int32_t least = std::numeric_limits<std::int32_t>::min();
      EXPECT_EQ(values, (std::set<std::int32_t>{least, -1, 0, 1, 2, 256}));
      const auto given = integers(t, 1, Distribution::kAsGiven);
      EXPECT_EQ(std::set<std::int32_t>(given.begin(), given.end()), (std::set<std::int32_t>{0, 1}));
    }
    int none = 0, all = 0, one = 0;
    for (std::size_t row = 0; row < 400; ++row) {
      const auto first = flags.begin() + static_cast<std::ptrdiff_t>(60 * row);
      const auto set = 60 - std::count(first, first + 60, 0);
      none += set == 0 ? 1 : 0;
      all += set == 60 ? 1 : 0;
      one += set == 1 ? 1 : 0;
    }
    for (const int count : {none, all, one}) EXPECT_GT(count, 20);
  }
}

TEST(InputsTest, KeepTheirKind) {
  auto integers = tensor(DType::kInt64, {500}, ValueKind::kIntegers);
  integers.low = -2, integers.high = 3;
  std::set<std::int64_t> seen;
  const auto bytes = filled(integers, 5, Distribution::kOddHalves);
  for (std::size_t i = 0; i < 500; ++i) seen.insert(load_as<std::int64_t>(bytes.data() + 8 * i));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
  const auto rows = filled(tensor(DType::kInt32, {3, 17}, ValueKind::kPermutation), 7);
  for (std::size_t r = 0; r < 3; ++r) {
    std::set<std::int32_t> row;
    for (std::size_t i = 0; i < 17; ++i) {
      row.insert(load_as<std::int32_t>(rows.data() + 4 * (17 * r + i)));
    }
    EXPECT_EQ(row.size(), 17u);
    EXPECT_EQ(*row.rbegin(), 16);
  }
}

// A sequential sum of exponentials that are all just below 1 is wrong by far.
TEST(InputsTest, LongRowsAreNotAllSmall) {
  const auto t = tensor(DType::kFloat32, {20, 1025}, ValueKind::kNormal);
  EXPECT_EQ(floats(t, 1, Distribution::kSmall), floats(t, 1, Distribution::kAsGiven));
}

TEST(InputsTest, NormalsHaveTheirQuantiles) {
  constexpr int kElements = 200'000;
  const auto values =
      floats(tensor(DType::kFloat32, {kElements}, ValueKind::kNormal), 1, Distribution::kAsGiven);
  for (const double z : {-4.0, -3.0, -2.0, -1.44, -1.0, -0.1, 0.0, 0.5, 1.44, 2.5}) {
    const double share = 0.5 * std::erfc(-z / std::sqrt(2));
    const auto below = std::ranges::count_if(values, [&](float x) { return x < z; });
    const double deviation = std::sqrt(kElements * share * (1 - share));
    EXPECT_NEAR(below, kElements * share, 4 * deviation) << z;
  }
}

// Around 0 they are varied, so that a kernel's shortcuts fail; around a mean they are what they are.
TEST(InputsTest, NormalsHaveTheirMeanAndDeviation) {
  auto t = tensor(DType::kFloat32, {4000}, ValueKind::kNormal);
  t.low = -5, t.high = 0.3;
  const auto shifted = filled(t, 5);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 4000; ++i) {
    const double distance = load_as<float>(shifted.data() + 4 * i) + 5;
    sum += distance, squares += distance * distance;
  }
  EXPECT_NEAR(sum / 4000, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.3, 0.02);
  for (std::size_t d = 0; d < kDistributions; ++d)
    EXPECT_EQ(filled(t, 5, static_cast<Distribution>(d)), shifted);

  t.low = 0;
  std::set<float> halves;
  const auto bytes = filled(t, 5, Distribution::kOddHalves);
  for (std::size_t i = 0; i < 4000; ++i) halves.insert(load_as<float>(bytes.data() + 4 * i));
  EXPECT_EQ(halves, (std::set<float>{-.875f, -.625f, -.375f, -.125f, .125f, .375f, .625f, .875f}));
}

TEST(InputsTest, BernoulliIsOneWithItsProbability) {
  for (const DType type : {DType::kFloat16, DType::kInt64, DType::kBool}) {
    auto t = tensor(type, {4000}, ValueKind::kBernoulli);
    t.high = 0.1;
    const auto bytes = filled(t, 5);
    int ones = 0;
    for (std::int64_t i = 0; i < 4000; ++i) {
      const std::byte* at = bytes.data() + i * size_of(type);
      const double value = is_floating(type) ? load_real(type, at) : load_integer(type, at);
      ASSERT_TRUE(value == 0 || value == 1);
      ones += value == 1 ? 1 : 0;
    }
    EXPECT_NEAR(ones, 400, 80) << name_of(type);
  }
}

// With as many values as there are integers: of sorted draws a third of the gaps are 0, one in fifty
// is 4 or more.
TEST(InputsTest, SortedIntegersLieAsIfTheyHadBeenDrawnAndSorted) {
  for (const ValueKind kind : {ValueKind::kSorted, ValueKind::kOffsets}) {
    auto t = tensor(DType::kInt32, {3, 2001}, kind);
    t.low = -7, t.high = 1993;
    for (const Distribution d : {Distribution::kAsGiven, Distribution::kOddHalves}) {
      const auto bytes = filled(t, 5, d);
      const auto at = [&](std::size_t row, std::size_t i) {
        return load_as<std::int32_t>(bytes.data() + 4 * (2001 * row + i));
      };
      std::map<std::int32_t, int> gaps;
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t i = 1; i < 2001; ++i) ++gaps[at(row, i) - at(row, i - 1)];
        EXPECT_GE(at(row, 0), -7);
        EXPECT_LE(at(row, 2000), kind == ValueKind::kSorted ? 1992 : 1993);
        if (kind == ValueKind::kOffsets) {
          EXPECT_EQ(at(row, 0), -7);
          EXPECT_EQ(at(row, 2000), 1993);
        }
      }
      EXPECT_GE(gaps.begin()->first, 0) << name_of(kind) << ": not in order";
      EXPECT_NEAR(gaps[0] / 6000.0, 0.37, 0.05) << name_of(kind);
      int wide = 0;
      for (const auto& [gap, count] : gaps) wide += gap >= 4 ? count : 0;
      EXPECT_NEAR(wide / 6000.0, 0.03, 0.02) << name_of(kind);
    }
  }
}

// Rows of one or two elements, and more elements than there are integers.
TEST(InputsTest, SortedIntegersOfShortRows) {
  for (const std::int64_t length : {1, 2, 3, 50}) {
    for (const ValueKind kind : {ValueKind::kSorted, ValueKind::kOffsets}) {
      auto t = tensor(DType::kInt64, {40, length}, kind);
      t.low = 0, t.high = 2;
      const auto bytes = filled(t, 5);
      for (std::int64_t i = 0; i < 40 * length; ++i) {
        const auto value = load_as<std::int64_t>(bytes.data() + 8 * i);
        EXPECT_GE(value, 0);
        EXPECT_LE(value, kind == ValueKind::kSorted ? 1 : 2);
        const bool first = i % length == 0, last = i % length == length - 1;
        const auto before = load_as<std::int64_t>(bytes.data() + 8 * (first ? i : i - 1));
        EXPECT_GE(value, before);
        if (kind != ValueKind::kOffsets) continue;
        EXPECT_TRUE(!first || value == 0) << value;
        EXPECT_TRUE(!last || first || value == 2) << value;
      }
    }
  }
}

TEST(InputsTest, HaveTheStructureOfTheirMatrices) {
  auto matrices = tensor(DType::kFloat32, {2, 7, 7}, ValueKind::kNormal);
  const auto at = [&](const auto& bytes, std::size_t m, std::size_t row, std::size_t column) {
    return load_as<float>(bytes.data() + 4 * (49 * m + 7 * row + column));
  };
  const auto general = filled(matrices, 5);
  for (const auto& [name, structure] : kStructures) {
    matrices.structure = structure;
    const auto bytes = filled(matrices, 5);
    for (std::size_t i = 0; i < 98; ++i) {
      const std::size_t m = i / 49, row = i / 7 % 7, column = i % 7;
      const bool upper = column >= row, lower = column <= row;
      float expected = at(general, m, row, column);
      if (structure == Structure::kSymmetric && !upper) expected = at(general, m, column, row);
      if (structure == Structure::kUpperTriangular && !upper) expected = 0;
      if (structure == Structure::kLowerTriangular && !lower) expected = 0;
      EXPECT_EQ(at(bytes, m, row, column), expected) << name << " " << i;
    }
  }
}

TEST(ElementTest, HalvesRoundToNearestEven) {
  EXPECT_EQ(to_float16(1.0f), 0x3c00);
  EXPECT_EQ(to_float16(65504.0f), 0x7bff);
  EXPECT_EQ(to_float16(65520.0f), 0x7c00);
  EXPECT_EQ(to_float16(1.00048828125f), 0x3c00);  // half way, to even
  EXPECT_EQ(to_float16(5.9604645e-8f), 1);
  EXPECT_EQ(to_bfloat16(1.00390625f), 0x3f80);  // half way, to even
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (std::isnan(from_float16(half))) continue;
    EXPECT_EQ(to_float16(from_float16(half)), half);
  }
}

TEST(ComparisonTest, AllowsToleranceAndRounding) {
  const auto t = tensor(DType::kFloat32, {2, 2}, ValueKind::kNormal);
  ExpectedOutput expected{{1, 2, NAN, INFINITY}, {0, 0.04f, 0, 0}, {}};
  const auto check = [&](std::array<float, 4> got) {
    return compare_output(t, std::as_bytes(std::span(got)), expected, {1e-4, 0});
  };
  EXPECT_TRUE(check({1.00005f, 2.03f, NAN, INFINITY}).passed());
  EXPECT_EQ(check({1.001f, 2.05f, 0, -INFINITY}).wrong, 4);
  const Comparison wrong = check({NAN, 2, NAN, INFINITY});
  EXPECT_EQ(describe(t, wrong), "t: 1 of 4 elements are wrong: t[0, 0]");
}

// Whoever is told what few elements should be can give them back from a table, and what a candidate
// wrote there may be what it computed.
TEST(ComparisonTest, SaysWhatIsRightOnlyOfLargeOutputs) {
  const auto wrong = [](DType dtype, std::int64_t elements, double got, double expected) {
    const auto t = tensor(dtype, {elements}, ValueKind::kNormal);
    Comparison comparison;
    comparison.wrong = 1;
    comparison.first = {{3, got, expected}};
    comparison.max_abs_error = std::fabs(got - expected);
    return describe(t, comparison);
  };
  EXPECT_EQ(wrong(DType::kFloat32, 1000, 0, 1.5),
            "t: 1 of 1000 elements are wrong: t[3] is 0, expected 1.5; largest error 1.5");
  EXPECT_EQ(wrong(DType::kFloat32, 1000, 1.5000001f, 1.5),
            "t: 1 of 1000 elements are wrong: t[3] is 1.50000012, expected 1.5; largest error "
            "1.19209e-07");
  EXPECT_EQ(
      wrong(DType::kInt32, 1000, 33554432, 33554431),
      "t: 1 of 1000 elements are wrong: t[3] is 33554432, expected 33554431; largest error 1");
  EXPECT_EQ(wrong(DType::kFloat32, 4, 2.125, 1.5),
            "t: 1 of 4 elements are wrong: t[3] by about 40 %");
  EXPECT_EQ(wrong(DType::kFloat32, 4, 1.5001, 1.5),
            "t: 1 of 4 elements are wrong: t[3] by about 0.007 %");
  EXPECT_EQ(wrong(DType::kFloat32, 4, 1e9, 1.5), "t: 1 of 4 elements are wrong: t[3] by far");
  EXPECT_EQ(wrong(DType::kInt32, 4, 7, 5), "t: 1 of 4 elements are wrong: t[3]");
  Comparison comparison;
  comparison.first = {{3, 0, 1.5}};
  comparison.wrong = 1;
  EXPECT_EQ(
      describe(tensor(DType::kFloat32, {1000}, ValueKind::kNormal), comparison, Telling::kPlaces),
      "t: 1 of 1000 elements are wrong: t[3]");
  RunVerdict verdict;
  comparison.max_abs_error = 0.625;
  verdict.add(tensor(DType::kFloat32, {4}, ValueKind::kNormal), comparison);
  EXPECT_FALSE(std::isfinite(verdict.max_abs_error)) << "feedback shows what is finite";
}

constexpr RunSeeds kSeeds{9, 10};

std::vector<FreshShape> shapes_of(std::size_t count) {
  static const std::vector<std::string> labels = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  std::vector<FreshShape> shapes;
  for (std::size_t s = 0; s < count; ++s)
    shapes.push_back({s, labels[s], static_cast<std::int64_t>(1000 * s * s), 100});
  return shapes;
}

// All cases and the large shapes see all of them together, whatever the small ones see.
TEST(RunPlanTest, EveryDistributionIsDealtBeforeOneComesAgain) {
  for (std::uint64_t own = 0; own < 50; ++own) {
    std::set<Distribution> large;
    for (const PlannedRun& run : plan_runs(2, 0, 2, {9, own}))
      if (!run.counted) large.insert(run.distribution);
    for (const PlannedRun& run : plan_fresh(shapes_of(9), 3, {9, own}))
      if (run.case_index > 0) large.insert(run.distribution);
    EXPECT_EQ(large.size(), kDistributions);
  }
}

TEST(RunPlanTest, FreshShapesOfFewElementsOrOutputsMeetTwoDistributions) {
  const FreshShape shapes[] = {{0, "small", 4096, 2048},
                               {1, "few outputs", 32768, 64},
                               {2, "large", 4097, 2048},
                               {3, "too large", 32769, 64}};
  std::map<std::size_t, std::set<std::pair<std::uint64_t, Distribution>>> inputs;
  for (const PlannedRun& run : plan_fresh(shapes, 3, kSeeds))
    inputs[run.case_index].insert({run.seed, run.distribution});
  for (const FreshShape& shape : shapes)
    EXPECT_EQ(inputs[shape.case_index].size(), shape.case_index < 2 ? 2u : 1u) << shape.label;
}

// So none of them tells of what is drawn with it, nor of what is timed.
TEST(RunPlanTest, DistributionsAndOrdersAreIndependentOfCasesAndPurposes) {
  std::map<std::size_t, std::set<std::pair<Distribution, RunOrder>>> seen;
  for (std::uint64_t own = 0; own < 1000; ++own) {
    for (const PlannedRun& run : plan_runs(2, 1, 2, {9, own}))
      if (!run.counted) seen[run.case_index].insert({run.distribution, run.order});
    for (const PlannedRun& run : plan_fresh(shapes_of(3), 4, {9, own}))
      seen[10 + run.case_index].insert({run.distribution, run.order});
  }
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [where, pairs] : seen) EXPECT_EQ(pairs.size(), 3 * kDistributions) << where;
  std::set<Distribution> real;
  int rare = 0;
  for (std::uint64_t own = 0; own < 1000; ++own) {
    const PlannedRun run = plan_at_real_size(plan_counted(1, 9).front(), {9, own});
    real.insert(run.distribution);
    rare += run.distribution == Distribution::kRare ? 1 : 0;
  }
  EXPECT_EQ(real.size(), kDistributions - 1);
  EXPECT_NEAR(rare, 775, 60);
}

TEST(RunPlanTest, CasesAreCountedOnceAndTheLastIsCheckedMost) {
  for (const std::size_t cases : {1, 2, 3, 4, 6}) {
    std::set<std::uint64_t> seeds;
    std::vector<std::size_t> checked(cases + 1), counted(cases + 1);
    const auto runs = plan_runs(cases, 1, 2, kSeeds);
    for (const PlannedRun& run : runs) {
      seeds.insert(run.seed);
      ++(run.counted ? counted : checked)[run.case_index];
      EXPECT_TRUE(!run.counted || run.distribution == Distribution::kAsGiven);
    }
    EXPECT_EQ(seeds.size(), runs.size()) << cases;
    for (std::size_t c = 0; c < cases; ++c) EXPECT_EQ(counted[c], 1u);
    EXPECT_EQ(counted[cases], 0u);
    EXPECT_EQ(checked[cases], 1u);
    EXPECT_GE(checked[cases - 1], checked[0]);
  }
}

TEST(RunPlanTest, FreshInputsAreSharedAndAllOthersAreNot) {
  const auto one = plan_runs(2, 1, 2, {9, 10}), other = plan_runs(2, 1, 2, {9, 11});
  for (std::size_t r = 0; r < one.size(); ++r) EXPECT_NE(one[r].seed, other[r].seed) << r;
  const auto fresh = plan_fresh(shapes_of(7), 3, {9, 10}),
             again = plan_fresh(shapes_of(7), 3, {9, 11});
  for (std::size_t r = 0; r < fresh.size(); ++r) EXPECT_EQ(fresh[r].seed, again[r].seed) << r;
}

// A task of one axis with two small cases, one real one and a hold-out.
PreparedTask sized_task(Sizes sizes) {
  return prepare_task(R"({
    "id": "double", "prompt": "y = 2 x", "axes": {"n": "var"},
    "input": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
    "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
    "reference": "def run(x):\n    return 2 * x\n",
    "cases": [{"n": 1000}, {"n": 333}], "real": [{"n": 1000000}], "holdout": [{"n": 77}],
    "ranges": {"n": [1, 2000000]}})",
                      sizes);
}

// Else the same kernel would get other inputs in another checkout.
TEST(PreparedTaskDigest, IsNotOfTheFileThatTheTaskCameFrom) {
  const auto digest_of = [](std::string_view file, int rows) {
    const std::string text =
        R"({"id": "t", "prompt": "p", "axes": {"n": "var"}, "reference": "def run(x):\n    return x\n",
      "input": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
      "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}], "cases": [{"n": )" +
        std::to_string(rows) + R"(}], "origin": {"file": ")" + std::string(file) + "\"}}";
    return prepare_task(text, Sizes::kSmall).digest;
  };
  EXPECT_EQ(digest_of("/one/task.toml", 3), digest_of("/another/task.toml", 3));
  EXPECT_NE(digest_of("/one/task.toml", 3), digest_of("/one/task.toml", 4));
}

TEST(EvaluationPlanTest, WhereSizesAreRealTheyAreWhatCounts) {
  const PreparedTask asked =
      select_cases(sized_task(Sizes::kReal), KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT, 0);
  ASSERT_EQ(asked.cases.size(), 4 + kSizeKinds + 2) << "two at the borders of tiles";
  EXPECT_EQ(asked.cases[2].label, "n=1000000");
  EXPECT_EQ(asked.kind_of(2), CaseKind::kShown);
  EXPECT_EQ(asked.kind_of(3), CaseKind::kHoldout);
  std::vector<std::size_t> runs(asked.cases.size());
  std::size_t last = 0;
  for (const PlannedRun& run : plan_evaluation(asked, 5, kSeeds)) {
    ++runs[run.case_index];
    const bool given = run.distribution == Distribution::kAsGiven;
    EXPECT_TRUE(!run.counted || (run.case_index == 2 && given)) << run.case_index;
    EXPECT_GE(run.case_index, last) << "the runs of a case stand together";
    last = run.case_index;
  }
  EXPECT_EQ(runs[0], 5u);
  EXPECT_EQ(runs[2], 2u);
  EXPECT_EQ(runs[3], 1u);
}

TEST(EvaluationPlanTest, InputsOnWhichRightKernelsDifferAreReplaced) {
  TaskDefinition task = sized_task(Sizes::kSmall).definition;
  EXPECT_EQ(suited(Distribution::kBelow, task), Distribution::kOffset);
  EXPECT_EQ(suited(Distribution::kSubnormal, task), Distribution::kSmall);
  EXPECT_EQ(suited(Distribution::kLarge, task), Distribution::kLarge);
  task.work.operations = "n * n";
  for (const auto distribution : {Distribution::kBelow, Distribution::kOffset})
    EXPECT_EQ(suited(distribution, task), Distribution::kHundredth);
  EXPECT_EQ(suited(Distribution::kLarge, task), Distribution::kHundredfold);
  EXPECT_EQ(suited(Distribution::kRare, task), Distribution::kOddHalves);
  task.work.operations.clear();
  task.tolerance.atol = task.tolerance.rtol = 0;
  for (const auto distribution : {Distribution::kBelow, Distribution::kSubnormal})
    EXPECT_EQ(suited(distribution, task), distribution);
}

TEST(EvaluationPlanTest, FreshShapesAreReportedUnlessAShownOneFailed) {
  const PreparedTask asked =
      select_cases(sized_task(Sizes::kSmall), KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT, 0);
  const auto reported = [&](std::size_t failing) {
    EvaluationRecord record;
    record.cases = untried_cases(asked, asked.cases.size());
    record.cases[failing].verdict = Verdict::kWrongResult;
    settle_fresh_cases(asked, {}, &record);
    return record.cases.size();
  };
  EXPECT_EQ(reported(0), asked.n_known());
  EXPECT_EQ(reported(asked.n_cases), asked.cases.size()) << "a hold-out hides nothing";
}

TEST(EvaluationPlanTest, KernelBenchJudgesTheRealSizesAlone) {
  const PreparedTask task = as_kernelbench(sized_task(Sizes::kReal));
  EXPECT_NE(task.digest, sized_task(Sizes::kReal).digest);
  const PreparedTask asked =
      select_cases(task, KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL, 0);
  ASSERT_EQ(asked.cases.size(), 1u);
  EXPECT_EQ(asked.cases[0].label, "n=1000000");
  EXPECT_EQ(asked.cases[0].terms, 0);
  EXPECT_EQ(asked.definition.tolerance.atol, 1e-4);
  EXPECT_EQ(asked.definition.tolerance.rtol, 1e-4);
  const auto runs = plan_evaluation(asked, 3, {9, 10});
  ASSERT_EQ(runs.size(), 5u);
  std::set<std::uint64_t> seeds;
  for (const PlannedRun& run : runs) {
    EXPECT_EQ(run.distribution, Distribution::kAsGiven);
    seeds.insert(run.seed);
  }
  EXPECT_EQ(seeds.size(), 5u);
  EXPECT_EQ(plan_evaluation(asked, 3, {9, 11}), runs) << "all candidates see the same inputs";
  EXPECT_EQ(as_kernelbench(sized_task(Sizes::kSmall)).cases.size(), 2u);
}

TEST(EvaluationPlanTest, WhereSizesAreSmallThoseCountAndNoOthersAreRun) {
  const PreparedTask asked = select_cases(sized_task(Sizes::kSmall), KRL_STAGE_CHECK, 0);
  ASSERT_EQ(asked.cases.size(), 2 + kSizeKinds + 2) << "two at the borders of tiles";
  for (const ResolvedCase& c : asked.cases) EXPECT_LE(c.axes.at("n"), 8 * 1000) << c.label;
  for (const PlannedRun& run : plan_evaluation(asked, 1, {9, 10}))
    EXPECT_EQ(run.counted, run.case_index < 2) << run.case_index;
}

TEST(EvaluationRequestTest, ACandidateHasInputsOfItsOwn) {
  std::set<std::uint64_t> own, shared;
  EvaluationRequest request;
  request.seed = 5;
  const auto seeds_of = [&](const std::string& source) {
    request.source = source;
    return request.run_seeds("task");
  };
  for (int i = 0; i < 200; ++i) {
    const RunSeeds seeds = seeds_of("source " + std::to_string(i));
    own.insert(seeds.own);
    shared.insert(seeds.shared);
    EXPECT_EQ(seeds.own, seeds_of("source " + std::to_string(i)).own);
  }
  EXPECT_EQ(shared.size(), 1u);
  EXPECT_EQ(own.size(), EvaluationRequest::kInputSets);
  request.seed = 6;
  EXPECT_EQ(own.count(seeds_of("source 0").own), 0u) << "another run, other inputs";
}

TEST(EvaluationRecordTest, KeepsItsFirstFailure) {
  EvaluationRecord record;
  EXPECT_TRUE(record.passed());
  record.fail(Verdict::kWrongResult, "why");
  record.fail(Verdict::kTimeout, "later");
  EXPECT_EQ(record.verdict, Verdict::kWrongResult);
  EXPECT_EQ(record.why, "why");
}

}  // namespace
}  // namespace krl::evaluator
