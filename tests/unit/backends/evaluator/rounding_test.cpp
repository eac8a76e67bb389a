// What a reference says about rounding, at real sizes: sums in float32 in other orders than the
// reference's are right, and a sum without one of its terms is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <kernelrl/task_definition.hpp>

#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/check/element.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/oracle/reference.hpp"

namespace krl::evaluator {
namespace {

struct Computed {
  TaskDefinition task;
  ResolvedCase resolved;
  std::vector<float> input;
  ExpectedOutput expected;

  template <class T>
  Comparison compared(const std::vector<T>& got) const {
    return compare_output(resolved.tensors.back(), std::as_bytes(std::span(got)), expected,
                          task.tolerance);
  }
};

// A task of one input x[rows, cols] and one output y, on inputs of a distribution.
Computed compute(const std::string& body, const std::string& output_shape, std::int64_t rows,
                 std::int64_t cols, Distribution distribution, const char* dtype = "float32",
                 double rtol = 1e-6, const char* terms = "cols") {
  const nlohmann::ordered_json json = {
      {"id", "task"},
      {"prompt", "y"},
      {"axes", {{"rows", "var"}, {"cols", "var"}}},
      {"reference", "def run(x):\n    return " + body + "\n"},
      {"cases", {{{"rows", rows}, {"cols", cols}}}},
      {"tolerance", {{"rtol", rtol}, {"atol", 0}, {"terms", terms}}},
      {"input", {{{"name", "x"}, {"dtype", "float32"}, {"shape", {"rows", "cols"}}}}},
      {"output", {{{"name", "y"}, {"dtype", dtype}, {"shape", {"rows", output_shape}}}}}};
  Computed computed;
  computed.task = *parse_task_definition(json.dump());
  computed.resolved = *resolve_case(computed.task, computed.task.cases[0]);
  const OracleRequest request =
      oracle_request(computed.task, computed.resolved, repeats_values(distribution));
  std::vector<std::byte> memory(request.memory_bytes);
  const ResolvedTensor& x = computed.resolved.tensors[0];
  const auto bytes = static_cast<std::size_t>(x.bytes());
  fill_input(x, 7, distribution, std::span(memory).first(bytes));
  ReferenceStore store;
  const auto problem = store.compute(request, memory.data());
  EXPECT_FALSE(problem) << problem->message;
  const OracleTensor& y = request.outputs[0];
  const auto elements = static_cast<std::size_t>(computed.resolved.tensors.back().elements);
  computed.input.resize(bytes / 4);
  std::memcpy(computed.input.data(), memory.data(), bytes);
  const auto take = [&](auto& values, std::uint64_t offset, std::size_t count) {
    values.resize(count);
    std::memcpy(values.data(), memory.data() + offset, count * sizeof values[0]);
  };
  if (!is_floating(y.dtype)) {
    take(computed.expected.integers, y.offset, elements * static_cast<std::size_t>(y.choices));
    return computed;
  }
  take(computed.expected.reals, y.offset, elements);
  take(computed.expected.rounding, y.rounding, elements);
  return computed;
}

// One after the other, as a thread a row does it, without the last `dropped` terms.
std::vector<float> serial_sums(const std::vector<float>& x, std::size_t cols,
                               std::size_t dropped = 0) {
  std::vector<float> sums(x.size() / cols);
  for (std::size_t r = 0; r < sums.size(); ++r) {
    for (std::size_t c = 0; c + dropped < cols; ++c) sums[r] += x[r * cols + c];
  }
  return sums;
}

TEST(RoundingTest, ASerialSumOfALongRowIsRight) {
  const Computed rows = compute("x.sum(1, True)", "1", 4096, 8193, Distribution::kAsGiven);
  EXPECT_TRUE(rows.compared(serial_sums(rows.input, 8193)).passed());
  EXPECT_GT(rows.compared(serial_sums(rows.input, 8193, 1)).wrong, 4000);
  std::vector<float> halves = serial_sums(rows.input, 8193);
  for (float& sum : halves) sum = from_float16(to_float16(sum));
  EXPECT_GT(rows.compared(halves).wrong, 1000);
}

TEST(RoundingTest, ASerialSumOfFewTermsIsRightWhateverTheLuck) {
  for (const std::int64_t cols : {1, 2, 5, 37, 200, 1025, 16387}) {
    const Computed row = compute("x.sum(1, True)", "1", 1, cols, Distribution::kHundredfold);
    const auto size = static_cast<std::size_t>(cols);
    EXPECT_TRUE(row.compared(serial_sums(row.input, size)).passed()) << cols;
    EXPECT_FALSE(row.compared(serial_sums(row.input, size, 1)).passed()) << cols;
  }
}

// An error that few nudges show is far below its deviation by luck at times.
TEST(RoundingTest, AFewRowsThatErrFarMoreThanTheRestAreNudgedMoreOften) {
  const Computed rows =
      compute("torch.where(x[:, :1] > 3.3, torch.sin(x.sum(1, True) * 262144), x[:, :1] * 1e-3)",
              "1", 131072, 16, Distribution::kAsGiven, "float32", 1e-6, "1");
  int few = 0;
  for (std::size_t r = 0; r < 131072; ++r) {
    const std::span<const float> x = std::span(rows.input).subspan(r * 16, 16);
    if (x[0] <= 3.3f) continue;
    ++few;
    double sum = 0, squares = 0;
    for (const double value : x) {
      sum += value;
      squares += value * value;
    }
    const double deviation =
        std::fabs(std::cos(sum * 262144)) * 262144 * 0x1p-23 * std::sqrt(squares);
    EXPECT_GT(rows.expected.rounding[r], kRoundingFactor * 0.5 * deviation) << r;
  }
  EXPECT_GT(few, 30);
}

// Where rounding may cost as much as a term, as in a serial sum of so many, exact inputs decide.
TEST(RoundingTest, OneOfManyTermsIsMissed) {
  constexpr std::int64_t kMany = 20'000'000;
  const Computed row = compute("x.sum(1, True)", "1", 1, kMany, Distribution::kOddHalves);
  const std::vector<float> sum = serial_sums(row.input, kMany);
  EXPECT_EQ(sum[0], row.expected.reals[0]);
  EXPECT_TRUE(row.compared(sum).passed());
  EXPECT_FALSE(row.compared(serial_sums(row.input, kMany, 1)).passed());
}

TEST(RoundingTest, WhatIsBeyondTheTypeIsInfinite) {
  const Computed row = compute("torch.exp(x)", "cols", 1, 100, Distribution::kHundredfold);
  std::vector<float> right;
  for (const float value : row.input) right.push_back(std::exp(value));
  EXPECT_TRUE(std::any_of(right.begin(), right.end(), [](float v) { return std::isinf(v); }));
  EXPECT_LE(row.compared(right).wrong, 0) << describe(row.resolved.tensors[1], row.compared(right));
}

// What lies next to a half may be rounded either way.
TEST(RoundingTest, IntegersOfRealsMayBeThoseOfFloat32) {
  const char* quantised = "torch.round(x / (x.abs().amax(1, True) / 127)).int()";
  for (const Distribution d : {Distribution::kAsGiven, Distribution::kStructured}) {
    const Computed rows = compute(quantised, "cols", 400, 300, d, "int32");
    std::vector<std::int32_t> got;
    int differ = 0;
    for (std::size_t i = 0; i < rows.input.size(); ++i) {
      const auto first = rows.input.begin() + static_cast<std::ptrdiff_t>(i / 300 * 300);
      float most = 0;
      for (auto at = first; at != first + 300; ++at) most = std::max(most, std::fabs(*at));
      const float scaled = std::nearbyint(rows.input[i] / (most / 127.0f));
      got.push_back(most == 0 ? static_cast<std::int32_t>(rows.expected.integers[i])
                              : static_cast<std::int32_t>(scaled));
      differ += got.back() == rows.expected.integers[i] ? 0 : 1;
    }
    EXPECT_TRUE(rows.compared(got).passed()) << differ;
    for (std::int32_t& value : got) ++value;
    EXPECT_GT(rows.compared(got).wrong, 100'000);
  }
}

// Nudges break no ties there: only the first of equal elements is right.
TEST(RoundingTest, IndicesOfEqualElementsAreExact) {
  const Computed rows =
      compute("x.argmax(1, True).int()", "1", 500, 40, Distribution::kOddHalves, "int32");
  std::vector<std::int32_t> first, last;
  for (std::size_t r = 0; r < 500; ++r) {
    const auto row = rows.input.begin() + static_cast<std::ptrdiff_t>(40 * r);
    const auto reversed = std::make_reverse_iterator(row + 40);
    first.push_back(static_cast<std::int32_t>(std::max_element(row, row + 40) - row));
    last.push_back(
        static_cast<std::int32_t>(39 - (std::max_element(reversed, reversed + 40) - reversed)));
  }
  EXPECT_TRUE(rows.compared(first).passed());
  EXPECT_GT(rows.compared(last).wrong, 400);
}

// An element that is kept or left out with a tie gets no allowance for a broken one.
TEST(RoundingTest, WhatDependsOnATieHasNoAllowanceForBreakingIt) {
  const std::string body =
      "torch.where(x >= torch.topk(x, 8, 1)[0][:, 7:8], torch.exp(x), torch.zeros_like(x))";
  const Computed rows = compute(body, "cols", 100, 64, Distribution::kOddHalves);
  std::vector<float> right, exactly_eight;
  for (std::size_t r = 0; r < 100; ++r) {
    std::vector<float> row(rows.input.begin() + static_cast<std::ptrdiff_t>(64 * r),
                           rows.input.begin() + static_cast<std::ptrdiff_t>(64 * r + 64));
    std::vector<float> sorted = row;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    int kept = 0;
    for (const float x : row) {
      right.push_back(x >= sorted[7] ? std::exp(x) : 0);
      exactly_eight.push_back(x >= sorted[7] && kept++ < 8 ? std::exp(x) : 0);
    }
  }
  EXPECT_TRUE(rows.compared(right).passed());
  EXPECT_GT(rows.compared(exactly_eight).wrong, 100);
}

// Both elements of a row moved alike leave their ratio alone, which one of two nudges has to change.
TEST(RoundingTest, OfTwoNudgesOneMovesNeighboursApart) {
  constexpr std::size_t kRows = 512;
  const Computed ratios =
      compute("x[:, :1] / x[:, 1:2]", "1", kRows, 2, Distribution::kAsGiven, "float32", 0);
  for (std::size_t r = 0; r < kRows; ++r) {
    const double apart = 0x1p-22 * std::abs(ratios.expected.reals[r]);
    EXPECT_GT(ratios.expected.rounding[r], apart * kRoundingFactor) << "row " << r;
  }
}

TEST(RoundingTest, ACopyIsExactWhereATaskAllowsNoError) {
  for (const double rtol : {0.0, 1e-6}) {
    const Computed copy =
        compute("x.flip(1)", "cols", 5, 7, Distribution::kAsGiven, "float32", rtol);
    for (const float rounding : copy.expected.rounding) EXPECT_EQ(rounding == 0, rtol == 0);
    const Computed twice = compute("3 * x", "cols", 5, 7, Distribution::kAsGiven, "float32", rtol);
    for (const float rounding : twice.expected.rounding) EXPECT_GT(rounding, 0);
  }
}

// Whether an output is a copy is seen in a sample of it, but one that is rounded anywhere is none.
TEST(RoundingTest, WhatIsRoundedInOneColumnIsNoCopy) {
  const Computed computed = compute("torch.cat([x[:, :5], x[:, 5:6] / 3, x[:, 6:]], 1)", "cols", 64,
                                    64, Distribution::kAsGiven, "float32", 0);
  EXPECT_GT(computed.expected.rounding[5], 0);
}

TEST(RoundingTest, OfAReferenceThatReturnsAShorterTypeIsComputedInDouble) {
  const Computed row = compute("(x * 1e-3).half()", "cols", 1, 100, Distribution::kAsGiven);
  const std::vector<double>& reals = row.expected.reals;
  const std::vector<float>& rounding = row.expected.rounding;
  ASSERT_EQ(rounding.size(), 100u);
  for (std::size_t i = 0; i < rounding.size(); ++i)
    EXPECT_GE(rounding[i], 0x1p-24 * std::fabs(reals[i])) << i << ": " << reals[i];
}

}  // namespace
}  // namespace krl::evaluator
