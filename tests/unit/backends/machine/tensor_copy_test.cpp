// Copies of boxes of tensors (cp.async.bulk.tensor). The layouts are computed here by other formulas than
// the machine's: from rows and 16-byte chunks.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

constexpr char kHead[] = R"(
struct alignas(64) Map { char bytes[128]; };
__device__ unsigned shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(unsigned long long* b) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(b)));
  asm volatile("fence.mbarrier_init.release.cluster;");
}
__device__ void expect(unsigned long long* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared(b)), "r"(bytes));
}
__device__ void wait(unsigned long long* b) {
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }"
               :: "r"(shared(b)) : "memory");
}
__device__ void load2(void* to, const Map& m, int x, int y, unsigned long long* b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];"
               :: "r"(shared(to)), "l"(&m), "r"(x), "r"(y), "r"(shared(b)) : "memory");
}
__device__ void store2(const Map& m, int x, int y, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
               :: "l"(&m), "r"(x), "r"(y), "r"(shared(from)) : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
)";

CompiledModule tensor_kernel(const std::string& body) {
  const std::string source =
      std::string(kHead) +
      "extern \"C\" __global__ void k(const __grid_constant__ Map m, int* y, int a, int b) {\n"
      "__shared__ alignas(1024) int box[2048]; __shared__ unsigned long long bar;\n" +
      body + "\n}";
  return compile(source, {"k"});
}

struct Copied {
  Result result;
  std::vector<int> x, y;
};

// Runs `body` with one warp; x[i] = i, in 12 rows of 40, by a map with boxes of `box`.
Copied run(const std::string& body, std::vector<std::uint32_t> box, std::uint32_t swizzle,
           int a = 0, int b = 0, Order order = Order::kForward) {
  const CompiledModule module = tensor_kernel(body);
  EXPECT_EQ(module.log, "");
  Emulation emulation(module);
  emulation.job.max_shared_bytes = 64 << 10;
  std::vector<int> values(480);
  std::iota(values.begin(), values.end(), 0);
  const auto x = emulation.output<int>("x", values);
  const auto y = emulation.output<int>("y", 2048, -1);
  emulation.launch(0, {1, 1, 1}, {32, 1, 1},
                   {TensorMapArgument{x.buffer, 4, swizzle, {12, 40}, std::move(box)}, y, a, b});
  Copied copied{emulation.run(order), {}, {}};
  copied.x = emulation.values<int>(x);
  copied.y = emulation.values<int>(y);
  return copied;
}

constexpr char kLoad[] = R"(
if (threadIdx.x == 0) { init(&bar); expect(&bar, BYTES); load2(box, m, a, b, &bar); }
__syncthreads();
wait(&bar);
for (int i = threadIdx.x; i < BYTES / 4; i += 32) y[i] = box[i];)";

std::string with_bytes(std::string body, int bytes) {
  for (std::size_t at; (at = body.find("BYTES")) != std::string::npos;)
    body.replace(at, 5, std::to_string(bytes));
  return body;
}

// The word of shared memory of column `x` and row `y` of a box with rows of so many words.
int word_of(int x, int y, int words, unsigned swizzle) {
  const int chunk = x / 4, rows_of_128 = 128 / (words * 4);
  const int line = y / rows_of_128;  // of 128 bytes
  const int mixed = swizzle == 128  ? line % 8
                    : swizzle == 64 ? line % 4
                    : swizzle == 32 ? line % 2
                                    : 0;
  return y * words + (chunk ^ mixed) * 4 + x % 4;
}

TEST(TensorCopies, LoadBoxesWithZerosOutside) {
  struct Case {
    unsigned swizzle;
    int words, rows, x, y;
  };
  for (const Case& c : {Case{0, 8, 4, 4, 2},
                        {0, 8, 4, 36, 10},
                        {0, 12, 3, -5, -1},
                        {128, 32, 9, 0, 1},
                        {128, 32, 16, 10, -3},
                        {64, 16, 12, 3, 0},
                        {32, 8, 8, 35, 7},
                        {0, 4, 2, 100, 50}}) {
    const int bytes = c.words * c.rows * 4;
    const Copied copied =
        run(with_bytes(kLoad, bytes),
            {static_cast<unsigned>(c.rows), static_cast<unsigned>(c.words)}, c.swizzle, c.x, c.y);
    ASSERT_FALSE(copied.result.fault) << copied.result.fault->message;
    for (int y = 0; y < c.rows; ++y) {
      for (int x = 0; x < c.words; ++x) {
        const int column = c.x + x, row = c.y + y;
        const bool inside = column >= 0 && column < 40 && row >= 0 && row < 12;
        ASSERT_EQ(copied.y[word_of(x, y, c.words, c.swizzle)], inside ? row * 40 + column : 0)
            << c.swizzle << ": " << x << ", " << y;
      }
    }
  }
}

TEST(TensorCopies, StoreWhatIsInside) {
  const std::string body = R"(
for (int i = threadIdx.x; i < 32 * 4; i += 32) box[i] = 1000 + i;
asm volatile("fence.proxy.async.shared::cta;"); __syncwarp();
if (threadIdx.x == 0) store2(m, a, b, box);)";
  const Copied copied = run(body, {4, 32}, 128, 20, 10);
  ASSERT_FALSE(copied.result.fault) << copied.result.fault->message;
  for (int row = 0; row < 12; ++row) {
    for (int column = 0; column < 40; ++column) {
      const bool stored = row >= 10 && column >= 20;
      const int word = word_of(column - 20, row - 10, 32, 128);
      ASSERT_EQ(copied.x[row * 40 + column], stored ? 1000 + word : row * 40 + column);
    }
  }
}

TEST(TensorCopies, CountTheBytesOfTheWholeBox) {
  const Copied copied = run(with_bytes(kLoad, 64), {4, 8}, 0, 0, 0);  // of 128 that come
  ASSERT_TRUE(copied.result.fault);
}

TEST(TensorCopies, WrongOnesAreFaults) {
  const auto fault = [](const std::string& body, std::vector<std::uint32_t> box = {4, 8}) {
    for (const Order order : {Order::kForward, Order::kShuffled}) {
      const Copied copied = run(with_bytes(body, 128), box, 0, 0, 0, order);
      if (!copied.result.fault) return std::string("none");
      if (order == Order::kShuffled) return copied.result.fault->message;
    }
    return std::string();
  };
  EXPECT_NE(fault(R"(
if (threadIdx.x == 0) { init(&bar); expect(&bar, BYTES); load2(box, m, 0, 0, &bar); }
__syncthreads();
y[threadIdx.x] = box[threadIdx.x];)")
                .find("asynchronous copy"),
            std::string::npos);
  EXPECT_NE(fault(R"(
if (threadIdx.x == 0) { init(&bar); expect(&bar, BYTES); load2(box + 4, m, 0, 0, &bar); }
__syncthreads(); wait(&bar);)")
                .find("past a multiple of 128"),
            std::string::npos);
  EXPECT_NE(fault(R"(
if (threadIdx.x == 0) { init(&bar); expect(&bar, BYTES); load2(box + 2080, m, 0, 0, &bar); }
__syncthreads(); wait(&bar);)")
                .find("store of 128 bytes at byte"),
            std::string::npos);
  EXPECT_NE(fault(R"(
if (threadIdx.x == 0) store2(m, 0, 0, box + 2080);)")
                .find("load of 128 bytes at byte"),
            std::string::npos);
  EXPECT_NE(fault(R"(
if (threadIdx.x == 0) { init(&bar); expect(&bar, BYTES); load2(box, *(const Map*)y, 0, 0, &bar); }
__syncthreads(); wait(&bar);)")
                .find("no tensor map is there"),
            std::string::npos);
  EXPECT_NE(fault(R"(
for (int i = threadIdx.x; i < 32; i += 32) box[i] = i;
__syncwarp();
if (threadIdx.x == 0) store2(m, 0, 0, box);)")
                .find("fence.proxy.async"),
            std::string::npos);
  EXPECT_NE(fault(R"(
if (threadIdx.x == 0) { init(&bar); expect(&bar, BYTES);
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2}], [%3];" :: "r"(shared(box)), "l"(&m), "r"(0), "r"(shared(&bar))); }
__syncthreads(); wait(&bar);)")
                .find("1 coordinates by a tensor map of 2"),
            std::string::npos);
  EXPECT_NE(fault(R"(
if (threadIdx.x == 0) { init(&bar); expect(&bar, 256 * 40 * 4); load2(box, m, 0, 0, &bar); }
__syncthreads(); wait(&bar);)",
                  {256, 40})
                .find("shared"),
            std::string::npos);
}

}  // namespace
}  // namespace krl::machine
