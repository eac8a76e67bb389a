// What a reference says about rounding, at real sizes: sums in float32 in other orders than the
// reference's are right, and a sum without one of its terms is wrong.
#include <gtest/gtest.h>

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

  Comparison compared(const std::vector<float>& got) const {
    return compare_output(resolved.tensors.back(), std::as_bytes(std::span(got)), expected,
                          task.tolerance);
  }
};

// A task of one input x[rows, cols] and one output y, on inputs times `factor`.
Computed compute(const std::string& body, const std::string& output_shape, std::int64_t rows,
                 std::int64_t cols, double factor) {
  const nlohmann::ordered_json json = {
      {"id", "task"},
      {"prompt", "y"},
      {"axes", {{"rows", "var"}, {"cols", "var"}}},
      {"reference", "def run(x):\n    return " + body + "\n"},
      {"cases", {{{"rows", rows}, {"cols", cols}}}},
      {"tolerance", {{"rtol", 1e-6}, {"atol", 0}, {"terms", "cols"}}},
      {"input", {{{"name", "x"}, {"dtype", "float32"}, {"shape", {"rows", "cols"}}}}},
      {"output", {{{"name", "y"}, {"dtype", "float32"}, {"shape", {"rows", output_shape}}}}}};
  Computed computed;
  computed.task = *parse_task_definition(json.dump());
  computed.resolved = *resolve_case(computed.task, computed.task.cases[0]);
  const OracleRequest request = oracle_request(computed.task, computed.resolved);
  std::vector<std::byte> memory(request.memory_bytes);
  const ResolvedTensor& x = computed.resolved.tensors[0];
  const auto bytes = static_cast<std::size_t>(x.bytes());
  fill_input(x, 7, factor, std::span(memory).first(bytes));
  ReferenceStore store;
  const auto problem = store.compute(request, memory.data());
  EXPECT_FALSE(problem) << problem->message;
  const OracleTensor& y = request.outputs[0];
  const auto elements = static_cast<std::size_t>(computed.resolved.tensors.back().elements);
  computed.input.resize(bytes / 4);
  std::memcpy(computed.input.data(), memory.data(), bytes);
  computed.expected.reals.resize(elements);
  std::memcpy(computed.expected.reals.data(), memory.data() + y.offset, elements * 8);
  computed.expected.rounding.resize(elements);
  std::memcpy(computed.expected.rounding.data(), memory.data() + y.rounding, elements * 4);
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
  const Computed rows = compute("x.sum(1, True)", "1", 4096, 8193, 1);
  EXPECT_TRUE(rows.compared(serial_sums(rows.input, 8193)).passed());
  EXPECT_GT(rows.compared(serial_sums(rows.input, 8193, 1)).wrong, 4000);
  std::vector<float> halves = serial_sums(rows.input, 8193);
  for (float& sum : halves) sum = from_float16(to_float16(sum));
  EXPECT_GT(rows.compared(halves).wrong, 1000);
}

TEST(RoundingTest, ASerialSumOfFewTermsIsRightWhateverTheLuck) {
  for (const std::int64_t cols : {1, 2, 5, 37, 200, 1025, 16387}) {
    const Computed row = compute("x.sum(1, True)", "1", 1, cols, 100);
    const auto size = static_cast<std::size_t>(cols);
    EXPECT_TRUE(row.compared(serial_sums(row.input, size)).passed()) << cols;
    EXPECT_FALSE(row.compared(serial_sums(row.input, size, 1)).passed()) << cols;
  }
}

// Where rounding may cost as much as a term, as in a serial sum of so many, exact inputs decide.
TEST(RoundingTest, OneOfManyTermsIsMissed) {
  constexpr std::int64_t kMany = 20'000'000;
  const Computed row = compute("x.sum(1, True)", "1", 1, kMany, kHalves);
  const std::vector<float> sum = serial_sums(row.input, kMany);
  EXPECT_EQ(sum[0], row.expected.reals[0]);
  EXPECT_TRUE(row.compared(sum).passed());
  EXPECT_FALSE(row.compared(serial_sums(row.input, kMany, 1)).passed());
}

TEST(RoundingTest, WhatIsBeyondTheTypeIsInfinite) {
  const Computed row = compute("torch.exp(x)", "cols", 1, 100, 100);
  std::vector<float> right;
  for (const float value : row.input) right.push_back(std::exp(value));
  EXPECT_TRUE(std::any_of(right.begin(), right.end(), [](float v) { return std::isinf(v); }));
  EXPECT_LE(row.compared(right).wrong, 0) << describe(row.resolved.tensors[1], row.compared(right));
}

TEST(RoundingTest, OfAReferenceThatReturnsAShorterTypeIsComputedInDouble) {
  const Computed row = compute("(x * 1e-3).half()", "cols", 1, 100, 1);
  const std::vector<double>& reals = row.expected.reals;
  const std::vector<float>& rounding = row.expected.rounding;
  ASSERT_EQ(rounding.size(), 100u);
  for (std::size_t i = 0; i < rounding.size(); ++i)
    EXPECT_GE(rounding[i], 0x1p-24 * std::fabs(reals[i])) << i << ": " << reals[i];
}

}  // namespace
}  // namespace krl::evaluator
