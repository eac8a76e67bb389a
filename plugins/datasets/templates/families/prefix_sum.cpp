// Running add_up of a vector.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kTwoLaunches = R"(
// @scratch part float[ceil_div($n, 512)]
// @launch add_up<<<ceil_div(part.size, 128), 128>>>($x, part, $n)
// @launch kern<<<ceil_div(part.size, 128), 128>>>($x, part, $y, $n)
__global__ void add_up(const float* $x, float* part, int $n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t * 512 >= $n) return;
  float acc = 0.0f;
  for (int j = t * 512; j < $n && j < t * 512 + 512; j++) acc += $x[j];
  part[t] = acc;
}
__global__ void kern(const float* $x, const float* part, float* $y, int $n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t * 512 >= $n) return;
  float acc = 0.0f;
  for (int j = 0; j < t; j++) acc += part[j];
  for (int j = t * 512; j < $n && j < t * 512 + 512; j++) {
    acc += $x[j];
    $y[j] = acc;
  }
}
)";

constexpr const char* kPrefixSumWarp = R"(
// @launch kern<<<1, 32>>>($args)
__global__ void kern($params) {
  float acc = 0.0f;
  for (int e = 0; e < $n; e += 32) {
    int j = e + threadIdx.x;
    float v = j < $n ? $x[j] : 0.0f;
    for (int d = 1; d < 32; d *= 2) {
      float t = __shfl_up_sync(0xffffffff, v, d);
      if (threadIdx.x >= d) v += t;
    }
    if (j < $n) $y[j] = acc + v;
    acc += __shfl_sync(0xffffffff, v, 31);
  }
}
)";

// Every thread adds up a stretch, then starts from the sum of those before it.
constexpr const char* kPrefixSumStretches = R"(
// @launch kern<<<1, $B>>>($args)
__global__ void kern($params) {
  __shared__ float sh[$B];
  int size = ($n + $(B - 1)) / $B;
  int j0 = threadIdx.x * size, j1 = min(j0 + size, $n);
  float acc = 0.0f;
  for (int j = j0; j < j1; j++) acc += $x[j];
  sh[threadIdx.x] = acc;
  __syncthreads();
  acc = 0.0f;
  for (int d = 0; d < threadIdx.x; d++) acc += sh[d];
  for (int j = j0; j < j1; j++) {
    acc += $x[j];
    $y[j] = acc;
  }
}
)";

constexpr const char* kPrefixSumBlock = R"(
// @launch kern<<<1, $B>>>($args)
__global__ void kern($params) {
  __shared__ float sh[$B];
  float acc = 0.0f;
  for (int e = 0; e < $n; e += $B) {
    int j = e + threadIdx.x;
    sh[threadIdx.x] = j < $n ? $x[j] : 0.0f;
    __syncthreads();
    for (int d = 1; d < $B; d *= 2) {
      float v = threadIdx.x >= d ? sh[threadIdx.x - d] : 0.0f;
      __syncthreads();
      sh[threadIdx.x] += v;
      __syncthreads();
    }
    if (j < $n) $y[j] = acc + sh[threadIdx.x];
    acc += sh[$(B - 1)];
    __syncthreads();
  }
}
)";

}  // namespace

Family prefix_sum() {
  Operation operation;
  operation.id = "prefix_sum";
  operation.title = "Inclusive prefix sum";
  operation.tier = 1;
  operation.prompt = "$y[i] = sum($x[0 : i + 1])";
  operation.reference = "def run(x):\n    return x.cumsum(0)\n";
  operation.axes = {{"n", "n", NameKind::kLength}};
  operation.inputs = {{"x", "x", {"$n"}}};
  operation.outputs = {{"y", "y", {"$n"}}};
  operation.cases = {{{"n", 517}}, {{"n", 1600}}};
  operation.real = {{{"n", 1 << 24}}};
  operation.tolerance = {1e-6, 1e-6, "$n"};
  return {
      "prefix_sum",
      {operation},
      {{"two_launches", 2, "a thread for each stretch, which adds up all before it", kTwoLaunches},
       {"warp", 1, "one warp scans 32 at a time by shuffles", kPrefixSumWarp},
       {"stretches",
        2,
        "a stretch a thread, then the add_up before it",
        kPrefixSumStretches,
        {{"B", {"32", "64", "128", "256"}}}},
       {"block",
        1,
        "one block scans in shared memory",
        kPrefixSumBlock,
        {{"B", {"64", "128", "256"}}}}}};
}

}  // namespace krl::templates
