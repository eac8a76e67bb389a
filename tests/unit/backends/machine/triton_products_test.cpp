// PTX that Triton 3.6 wrote for sm_90 (folder triton): products by wgmma of what cp.async or
// ordinary stores brought to shared memory, pipelined and not. Kernels:
//
//   matmul(a, b, c, M, N, K, BM, BN, BK)   acc = tl.dot(load(a), load(b), acc) along K, in f32
//   attention(q, k, v, o, n)               a softmax that is rescaled as it goes on, of 64 columns;
//                                          its second product takes a factor from registers
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine::products_by_triton {
namespace {

constexpr Order kOrders[] = {Order::kForward, Order::kReversed, Order::kShuffled, Order::kLockstep,
                             Order::kDrawn};

CompiledModule module_of(const std::string& file, const std::string& kernel) {
  std::ifstream stream(KERNELRL_SOURCE_DIR "/tests/unit/backends/machine/triton/" + file + ".ptx");
  CompiledModule module;
  module.kernels = module.names = {kernel};
  module.ptx = {std::istreambuf_iterator<char>(stream), {}};
  return module;
}

struct Kernel {
  const char* file;
  unsigned bits, exponent;            // of an element
  std::int32_t rows, columns, depth;  // of a tile
  std::uint32_t warps, shared_bytes;
};

// An element with a small integral value.
std::uint32_t encoded(int value, const Kernel& kernel) {
  if (value == 0) return 0;
  const unsigned mantissa = (kernel.bits == 32 ? 24 : kernel.bits) - 1 - kernel.exponent;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent) * 2 - 1;
  const auto field = static_cast<std::uint32_t>(exponent - 1 + (1 << (kernel.exponent - 1)) - 1);
  const std::uint32_t bits =
      (value < 0 ? 1u : 0u) << (kernel.exponent + mantissa) | field << mantissa |
      static_cast<std::uint32_t>(std::ldexp(fraction, static_cast<int>(mantissa)));
  return kernel.bits == 32 ? bits << 8 : bits;
}

int a_at(std::int32_t i, std::int32_t k) { return (i * 5 + k * 3) % 7 - 3; }
int b_at(std::int32_t k, std::int32_t j) { return (k * 2 + j * 11) % 5 - 2; }

BufferArgument add(Emulation& emulation, const char* name, const Kernel& kernel, std::int32_t rows,
                   std::int32_t columns, int (*value)(std::int32_t, std::int32_t)) {
  std::vector<std::uint8_t> bytes;
  for (std::int32_t r = 0; r < rows; ++r) {
    for (std::int32_t c = 0; c < columns; ++c) {
      const std::uint32_t bits = encoded(value(r, c), kernel);
      for (unsigned at = 0; at < kernel.bits; at += 8) bytes.push_back(bits >> at & 255);
    }
  }
  return emulation.input(name, bytes);
}

class TritonProduct : public ::testing::TestWithParam<Kernel> {};
TEST_P(TritonProduct, IsRightInEveryOrder) {
  const Kernel& kernel = GetParam();
  const std::int32_t m = 2 * kernel.rows, n = kernel.columns, k = 5 * kernel.depth;
  for (const Order order : kOrders) {
    Emulation emulation(module_of(kernel.file, "matmul"));
    emulation.job.max_shared_bytes = 227 << 10;
    const auto a = add(emulation, "a", kernel, m, k, a_at);
    const auto b = add(emulation, "b", kernel, k, n, b_at);
    const auto c = emulation.unset<float>("c", static_cast<std::size_t>(m) * n);
    // Triton adds two pointers, which these kernels do not use.
    emulation.launch(0, {2, 1, 1}, {32 * kernel.warps, 1, 1},
                     {a, b, c, m, n, k, std::int64_t{0}, std::int64_t{0}}, kernel.shared_bytes);
    const Result result = emulation.run(order);
    ASSERT_FALSE(result.launch_error) << result.launch_error->message;
    ASSERT_FALSE(result.fault) << result.fault->message;
    const std::vector<float> found = emulation.values<float>(c);
    for (std::int32_t i = 0; i < m; ++i) {
      for (std::int32_t j = 0; j < n; ++j) {
        int sum = 0;
        for (std::int32_t l = 0; l < k; ++l) sum += a_at(i, l) * b_at(l, j);
        ASSERT_EQ(found[static_cast<std::size_t>(i * n + j)], static_cast<float>(sum))
            << i << " " << j;
      }
    }
    if (runs_side_by_side(order)) continue;
    const Counters& counters = result.runs[0][0].counters;
    std::uint64_t products = 0;
    for (const std::uint64_t of_type : counters.tensor_products) products += of_type;
    EXPECT_EQ(products, static_cast<std::uint64_t>(m) * n * k);
  }
}
INSTANTIATE_TEST_SUITE_P(Tensor, TritonProduct,
                         ::testing::Values(Kernel{"matmul_f16", 16, 5, 64, 64, 32, 4, 24576},
                                           Kernel{"matmul_bf16", 16, 8, 128, 128, 64, 8, 131072},
                                           Kernel{"matmul_e5m2", 8, 5, 64, 64, 32, 4, 16384},
                                           Kernel{"matmul_tf32", 32, 8, 64, 64, 32, 4, 32768}),
                         [](const auto& test) { return std::string(test.param.file); });

TEST(TritonAttention, IsRightInEveryOrder) {
  constexpr std::int32_t kRows = 128, kColumns = 64;
  const Kernel half{"", 16, 5, 0, 0, 0, 0, 0};
  const auto key = [](std::int32_t i, std::int32_t d) { return (i * 3 + d * 7) % 5 - 2; };
  const auto value = [](std::int32_t i, std::int32_t d) { return (i * 13 + d * 5) % 9 - 4; };
  for (const Order order : kOrders) {
    Emulation emulation(module_of("attention", "attention"));
    const auto q = add(emulation, "q", half, kRows, kColumns, a_at);
    const auto k = add(emulation, "k", half, kRows, kColumns, key);
    const auto v = add(emulation, "v", half, kRows, kColumns, value);
    const auto o = emulation.unset<float>("o", kRows * kColumns);
    emulation.launch(0, {kRows / 64, 1, 1}, {128, 1, 1},
                     {q, k, v, o, kRows, std::int64_t{0}, std::int64_t{0}}, 24576);
    const Result result = emulation.run(order);
    ASSERT_FALSE(result.launch_error) << result.launch_error->message;
    ASSERT_FALSE(result.fault) << result.fault->message;
    const std::vector<float> found = emulation.values<float>(o);
    for (std::int32_t i = 0; i < kRows; ++i) {
      std::vector<double> sums(kColumns);
      double total = 0;
      for (std::int32_t j = 0; j < kRows; ++j) {
        int score = 0;
        for (std::int32_t d = 0; d < kColumns; ++d) score += a_at(i, d) * key(j, d);
        const double weight = std::exp(score * 0.125);
        total += weight;
        for (std::int32_t d = 0; d < kColumns; ++d) sums[d] += weight * value(j, d);
      }
      for (std::int32_t d = 0; d < kColumns; ++d) {
        ASSERT_NEAR(found[static_cast<std::size_t>(i * kColumns + d)], sums[d] / total, 4e-3);
      }
    }
  }
}

}  // namespace
}  // namespace krl::machine::products_by_triton
