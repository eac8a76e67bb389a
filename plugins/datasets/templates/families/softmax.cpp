// The softmax of every row.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kSoftmaxThread = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  float m0 = -INFINITY;
  for (int j = 0; j < $cols; j++) m0 = fmaxf(m0, $x[r * $cols + j]);
  float m1 = 0.0f;
  for (int j = 0; j < $cols; j++) m1 += expf($x[r * $cols + j] - m0);
  for (int j = 0; j < $cols; j++) $y[r * $cols + j] = expf($x[r * $cols + j] - m0) / m1;
}
)";

constexpr const char* kSoftmaxWarp = R"(
// @launch kern<<<ceil_div($rows, $W), $(W * 32)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * $W + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= $rows) return;
  float m0 = -INFINITY;
  for (int j = lane; j < $cols; j += 32) m0 = fmaxf(m0, $x[r * $cols + j]);
  for (int d = 16; d > 0; d /= 2) m0 = fmaxf(m0, __shfl_xor_sync(0xffffffff, m0, d));
  float m1 = 0.0f;
  for (int j = lane; j < $cols; j += 32) m1 += expf($x[r * $cols + j] - m0);
  for (int d = 16; d > 0; d /= 2) m1 += __shfl_xor_sync(0xffffffff, m1, d);
  for (int j = lane; j < $cols; j += 32) $y[r * $cols + j] = expf($x[r * $cols + j] - m0) / m1;
}
)";

constexpr const char* kSoftmaxBlock = R"(
// @launch kern<<<$rows, $B>>>($args)
__global__ void kern($params) {
  __shared__ float sh[$B];
  int r = blockIdx.x;
  float m0 = -INFINITY;
  for (int j = threadIdx.x; j < $cols; j += $B) m0 = fmaxf(m0, $x[r * $cols + j]);
  sh[threadIdx.x] = m0;
  __syncthreads();
  for (int d = $(B / 2); d > 0; d /= 2) {
    if (threadIdx.x < d) sh[threadIdx.x] = fmaxf(sh[threadIdx.x], sh[threadIdx.x + d]);
    __syncthreads();
  }
  m0 = sh[0];
  __syncthreads();
  float m1 = 0.0f;
  for (int j = threadIdx.x; j < $cols; j += $B) m1 += expf($x[r * $cols + j] - m0);
  sh[threadIdx.x] = m1;
  __syncthreads();
  for (int d = $(B / 2); d > 0; d /= 2) {
    if (threadIdx.x < d) sh[threadIdx.x] += sh[threadIdx.x + d];
    __syncthreads();
  }
  m1 = sh[0];
  for (int j = threadIdx.x; j < $cols; j += $B) $y[r * $cols + j] = expf($x[r * $cols + j] - m0) / m1;
}
)";

}  // namespace

Family softmax() {
  Operation operation;
  operation.id = "softmax_rows";
  operation.title = "Row-wise softmax";
  operation.tier = 2;
  operation.prompt = "$y[r, :] = softmax($x[r, :])";
  operation.reference = "def run(x):\n    return torch.softmax(x, 1)\n";
  operation.axes = {{"rows", "rows", NameKind::kRows}, {"cols", "cols", NameKind::kColumns}};
  operation.inputs = {{"x", "x", {"$rows", "$cols"}}};
  operation.outputs = {{"y", "y", {"$rows", "$cols"}}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  operation.tolerance = {2e-5, 1e-9, "$cols"};
  return {"softmax",
          {operation},
          {{"thread",
            2,
            "one thread a row",
            kSoftmaxThread,
            {{"B", {"32", "64", "64", "128", "128", "256"}}}},
           {"warp",
            1,
            "coalesced: one warp a row, shuffles",
            kSoftmaxWarp,
            {{"W", {"1", "2", "4", "8"}}}},
           {"block",
            1,
            "coalesced: one block a row, shared memory",
            kSoftmaxBlock,
            {{"B", {"32", "64", "128", "256"}}}}}};
}

}  // namespace krl::templates
