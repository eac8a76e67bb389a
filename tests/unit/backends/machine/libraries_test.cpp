// Kernels that use what comes with CUDA: cooperative groups, CUB, barriers, pipelines and atomics
// of libcu++.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/backends/machine/emulation.hpp"

namespace krl::machine {
namespace {

constexpr char kGroups[] =
    R"(#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
)";

// What the body of k(const int* x, int* y, int n) leaves in y of 256 elements; x[i] = 7 i % 31, one
// block of `threads`; the same in every order.
std::vector<int> run(const std::string& head, const std::string& body,
                     std::uint32_t threads = 256) {
  Emulation emulation(
      head + "__global__ void k(const int* x, int* y, int n) { int t = threadIdx.x;\n" + body +
          "\n}",
      {"k"});
  EXPECT_EQ(emulation.compile_log(), "");
  std::vector<int> values(256);
  for (int i = 0; i < 256; ++i) values[static_cast<std::size_t>(i)] = 7 * i % 31;
  const auto x = emulation.input<int>("x", values);
  const auto y = emulation.output<int>("y", 256);
  emulation.launch(0, {1, 1, 1}, {threads, 1, 1}, {x, y, std::int32_t{256}});
  std::vector<int> result;
  for (const Order order : {Order::kForward, Order::kReversed}) {
    const Result end = emulation.run(order);
    EXPECT_FALSE(end.fault) << end.fault->message << " in line " << end.fault->line;
    if (result.empty()) result = emulation.values<int>(y);
    EXPECT_EQ(emulation.values<int>(y), result);
  }
  return result;
}

int x_at(int i) { return 7 * i % 31; }

int sum_of(int begin, int end) {
  int sum = 0;
  for (int i = begin; i < end; ++i) sum += x_at(i);
  return sum;
}

template <class Value>
std::vector<int> each(Value value, int n = 256) {
  std::vector<int> values(256);
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = value(i);
  return values;
}

// ---- cooperative groups ----

TEST(Libraries, TilesOfEverySize) {
  const std::string body =
      R"(auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
y[t] = cg::reduce(tile, x[t], cg::plus<int>()) * 1000 + tile.thread_rank() +
       tile.shfl_xor(t, SIZE / 2) * 0;)";
  for (const int size : {1, 2, 4, 8, 16, 32}) {
    const auto y = run("#define SIZE " + std::to_string(size) + "\n" + kGroups, body);
    EXPECT_EQ(y, each([&](int t) {
                return sum_of(t / size * size, t / size * size + size) * 1000 + t % size;
              }));
  }
}

TEST(Libraries, TilesOfSeveralWarps) {
  const auto y = run(std::string(kGroups),
                     R"(__shared__ cg::block_tile_memory<256> memory;
auto block = cg::this_thread_block(memory);
auto tile = cg::tiled_partition<128>(block);
int s = cg::reduce(tile, x[t], cg::plus<int>());
tile.sync();
y[t] = s + tile.meta_group_rank() * 10000 + tile.any(t == 130) * 100000;)");
  EXPECT_EQ(
      y, each([](int t) { return sum_of(t / 128 * 128, t / 128 * 128 + 128) + t / 128 * 110000; }));
}

TEST(Libraries, CoalescedGroupsReduceAndScan) {
  const auto y = run(kGroups,
                     R"(if (t % 3 == 1) {
  auto g = cg::coalesced_threads();
  int s = cg::reduce(g, t, cg::greater<int>());
  y[t] = cg::exclusive_scan(g, 1) * 1000 + s;
})");
  EXPECT_EQ(y, each([](int t) {
              if (t % 3 != 1) return 0;
              int rank = 0, greatest = 0;
              for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
                if (i % 3 != 1) continue;
                rank += i < t ? 1 : 0;
                greatest = i;
              }
              return rank * 1000 + greatest;
            }));
}

TEST(Libraries, LabelledPartitions) {
  const auto y = run(kGroups,
                     R"(auto warp = cg::tiled_partition<32>(cg::this_thread_block());
auto g = cg::labeled_partition(warp, t % 5);
y[t] = g.size() * 100 + cg::reduce(g, 1, cg::plus<int>());)");
  EXPECT_EQ(y, each([](int t) {
              const int size =
                  t % 32 / 32 + 6 +
                  (((t / 32 * 32 + 30) % 5 == t % 5 || (t / 32 * 32 + 31) % 5 == t % 5) ? 1 : 0);
              return size * 101;
            }));
}

TEST(Libraries, ScansOfTiles) {
  const auto y = run(kGroups,
                     R"(auto tile = cg::tiled_partition<16>(cg::this_thread_block());
y[t] = cg::inclusive_scan(tile, x[t]) * 10000 + cg::exclusive_scan(tile, x[t]);)");
  EXPECT_EQ(
      y, each([](int t) { return sum_of(t / 16 * 16, t + 1) * 10000 + sum_of(t / 16 * 16, t); }));
}

TEST(Libraries, CopiesOfGroupsAreAsynchronous) {
  const auto y = run(kGroups,
                     R"(__shared__ __align__(16) int s[256];
auto block = cg::this_thread_block();
cg::memcpy_async(block, s, x, sizeof s);
cg::wait(block);
y[t] = s[255 - t];)");
  EXPECT_EQ(y, each([](int t) { return x_at(255 - t); }));
}

// ---- CUB ----

TEST(Libraries, CubReducesAndScansBlocks) {
  const auto y = run("#include <cub/block/block_reduce.cuh>\n#include <cub/block/block_scan.cuh>\n",
                     R"(using R = cub::BlockReduce<int, 256>;
using S = cub::BlockScan<int, 256>;
__shared__ union {
  R::TempStorage r;
  S::TempStorage s;
} m;
int total = R(m.r).Sum(x[t]);
__syncthreads();
int before;
S(m.s).ExclusiveSum(x[t], before);
y[t] = before + (t == 0 ? total * 10 : 0);)");
  EXPECT_EQ(y, each([](int t) { return sum_of(0, t) + (t == 0 ? 10 * sum_of(0, 256) : 0); }));
}

TEST(Libraries, CubReducesWarps) {
  const auto y = run("#include <cub/warp/warp_reduce.cuh>\n",
                     R"(using W = cub::WarpReduce<int>;
__shared__ W::TempStorage m[8];
int s = W(m[t / 32]).Sum(x[t]);
if (t % 32 == 0) y[t] = s;)");
  EXPECT_EQ(y, each([](int t) { return t % 32 == 0 ? sum_of(t, t + 32) : 0; }));
}

TEST(Libraries, CubSortsBlocks) {
  const auto y = run("#include <cub/block/block_radix_sort.cuh>\n",
                     R"(using S = cub::BlockRadixSort<int, 64, 4>;
__shared__ S::TempStorage m;
int v[4];
for (int i = 0; i < 4; i++) v[i] = x[t * 4 + i];
S(m).Sort(v);
for (int i = 0; i < 4; i++) y[t * 4 + i] = v[i];)",
                     64);
  auto expected = each(x_at);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(y, expected);
}

// ---- libcu++ ----

TEST(Libraries, BarriersOfLibcu) {
  const auto y = run("#include <cuda/barrier>\n",
                     R"(using B = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
__shared__ B b;
__shared__ int s[256];
if (t == 0) init(&b, blockDim.x);
__syncthreads();
int sum = 0;
for (int i = 0; i < 3; i++) {
  s[t] = t + i;
  auto token = b.arrive();
  b.wait(std::move(token));
  sum += s[(t + 33) % 256];
  b.arrive_and_wait();
}
y[t] = sum;)");
  EXPECT_EQ(y, each([](int t) { return 3 * ((t + 33) % 256) + 3; }));
}

constexpr const char* kBarrierHead =
    "#include <cuda/barrier>\n#include <cuda/ptx>\n"
    "namespace ptx = cuda::ptx;\n"
    "#pragma nv_diag_suppress static_var_with_dynamic_init\n"
    "using B = cuda::barrier<cuda::thread_scope_block>;\n";

TEST(Libraries, BulkCopiesOfLibcu) {
  const auto y = run(kBarrierHead, R"(__shared__ alignas(16) int s[256];
__shared__ B b;
if (t == 0) { init(&b, blockDim.x); ptx::fence_proxy_async(ptx::space_shared); }
__syncthreads();
B::arrival_token token;
if (t == 0) {
  cuda::device::memcpy_async_tx(s, x, cuda::aligned_size_t<16>(1024), b);
  token = cuda::device::barrier_arrive_tx(b, 1, 1024);
} else {
  token = b.arrive();
}
b.wait(std::move(token));
s[t] += 1;
ptx::fence_proxy_async(ptx::space_shared);
__syncthreads();
if (t == 0) {
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y, s, 1024);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  (&b)->~B();
})");
  EXPECT_EQ(y, each([](int t) { return x_at(t) + 1; }));
}

TEST(Libraries, CopiesThatLibcuMakesBulk) {
  const auto y = run(kBarrierHead, R"(__shared__ alignas(16) int s[2][128];
__shared__ B full[2];
if (t < 2) init(full + t, blockDim.x);
__syncthreads();
for (int k = 0; k < 2; ++k) {
  if (t == 0) cuda::memcpy_async(s[k], x + 128 * k, cuda::aligned_size_t<16>(512), full[k]);
}
for (int k = 0; k < 2; ++k) {
  full[k].arrive_and_wait();
  if (t < 128) y[128 * k + t] = s[k][127 - t];
})");
  EXPECT_EQ(y, each([](int t) { return x_at(t / 128 * 128 + 127 - t % 128); }));
}

TEST(Libraries, ReductionsOfManyElements) {
  const auto y = run(kBarrierHead, R"(__shared__ alignas(16) int s[256];
y[t] = x[t];
s[t] = t;
ptx::fence_proxy_async();
__syncthreads();
if (t == 0) {
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y, s, 512);
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, y + 128, s + 128, 512);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
})");
  EXPECT_EQ(y, each([](int t) { return t < 128 ? x_at(t) + t : std::max(x_at(t), t); }));
}

TEST(Libraries, PipelinesOfLibcu) {
  const auto y = run("#include <cuda/pipeline>\n",
                     R"(__shared__ int s[2][64];
auto p = cuda::make_pipeline();
int sum = 0;
for (int i = 0; i < 5; i++) {
  if (i < 4) {
    p.producer_acquire();
    cuda::memcpy_async(&s[i % 2][t], &x[i * 64 + t], sizeof(int), p);
    p.producer_commit();
  }
  if (i > 0) {
    if (i < 4) cuda::pipeline_consumer_wait_prior<1>(p);
    else cuda::pipeline_consumer_wait_prior<0>(p);
    __syncthreads();
    sum += s[(i - 1) % 2][63 - t];
    __syncthreads();
    p.consumer_release();
  }
}
y[t] = sum;)",
                     64);
  EXPECT_EQ(y, each(
                   [](int t) {
                     int sum = 0;
                     for (int i = 0; i < 4; ++i) sum += x_at(i * 64 + 63 - t);
                     return sum;
                   },
                   64));
}

TEST(Libraries, PrimitivesOfPipelines) {
  const auto y = run("#include <cuda_pipeline.h>\n",
                     R"(__shared__ __align__(16) int s[256];
if (t < 64) __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16);
__pipeline_commit();
__pipeline_wait_prior(0);
__syncthreads();
y[t] = s[255 - t];)");
  EXPECT_EQ(y, each([](int t) { return x_at(255 - t); }));
}

TEST(Libraries, AtomicsOfLibcu) {
  const auto y = run("#include <cuda/atomic>\n",
                     R"(__shared__ int lock, sum;
if (t == 0) {
  lock = 0;
  sum = 0;
}
__syncthreads();
cuda::atomic_ref<int, cuda::thread_scope_block> l(lock);
while (l.exchange(1, cuda::memory_order_acquire) != 0) {}
sum += x[t];
l.store(0, cuda::memory_order_release);
__syncthreads();
cuda::atomic_ref<int, cuda::thread_scope_device> g(y[1]);
g.fetch_max(t, cuda::memory_order_relaxed);
if (t == 0) y[0] = sum;)");
  EXPECT_EQ(y[0], sum_of(0, 256));
  EXPECT_EQ(y[1], 255);
}

}  // namespace
}  // namespace krl::machine
