// Every row divided by its root mean square, or made zero mean and unit variance.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kRmsThread = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  float m0 = 0.0f;
  for (int j = 0; j < $cols; j++) m0 += $x[r * $cols + j] * $x[r * $cols + j];
  float f = rsqrtf(m0 / $cols + 1e-5f);
  for (int j = 0; j < $cols; j++) $y[r * $cols + j] = $x[r * $cols + j] * f;
}
)";

constexpr const char* kRmsWarp = R"(
// @launch kern<<<ceil_div($rows, $W), $(W * 32)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * $W + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= $rows) return;
  float m0 = 0.0f;
  for (int j = lane; j < $cols; j += 32) m0 += $x[r * $cols + j] * $x[r * $cols + j];
  for (int d = 16; d > 0; d /= 2) m0 += __shfl_xor_sync(0xffffffff, m0, d);
  float f = rsqrtf(m0 / $cols + 1e-5f);
  for (int j = lane; j < $cols; j += 32) $y[r * $cols + j] = $x[r * $cols + j] * f;
}
)";

constexpr const char* kRmsBlock = R"(
// @launch kern<<<$rows, $B>>>($args)
__global__ void kern($params) {
  __shared__ float sh[$B];
  int r = blockIdx.x;
  float m0 = 0.0f;
  for (int j = threadIdx.x; j < $cols; j += $B) m0 += $x[r * $cols + j] * $x[r * $cols + j];
  sh[threadIdx.x] = m0;
  __syncthreads();
  for (int d = $(B / 2); d > 0; d /= 2) {
    if (threadIdx.x < d) sh[threadIdx.x] += sh[threadIdx.x + d];
    __syncthreads();
  }
  float f = rsqrtf(sh[0] / $cols + 1e-5f);
  for (int j = threadIdx.x; j < $cols; j += $B) $y[r * $cols + j] = $x[r * $cols + j] * f;
}
)";

constexpr const char* kLayerThread = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  float m0 = 0.0f;
  for (int j = 0; j < $cols; j++) m0 += $x[r * $cols + j];
  float mean = m0 / $cols;
  float m1 = 0.0f;
  for (int j = 0; j < $cols; j++) m1 += ($x[r * $cols + j] - mean) * ($x[r * $cols + j] - mean);
  float f = rsqrtf(m1 / $cols + 1e-5f);
  for (int j = 0; j < $cols; j++) $y[r * $cols + j] = ($x[r * $cols + j] - mean) * f * $g[j] + $o[j];
}
)";

constexpr const char* kLayerWarp = R"(
// @launch kern<<<ceil_div($rows, $W), $(W * 32)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * $W + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= $rows) return;
  float m0 = 0.0f;
  for (int j = lane; j < $cols; j += 32) m0 += $x[r * $cols + j];
  for (int d = 16; d > 0; d /= 2) m0 += __shfl_xor_sync(0xffffffff, m0, d);
  float mean = m0 / $cols;
  float m1 = 0.0f;
  for (int j = lane; j < $cols; j += 32) m1 += ($x[r * $cols + j] - mean) * ($x[r * $cols + j] - mean);
  for (int d = 16; d > 0; d /= 2) m1 += __shfl_xor_sync(0xffffffff, m1, d);
  float f = rsqrtf(m1 / $cols + 1e-5f);
  for (int j = lane; j < $cols; j += 32) $y[r * $cols + j] = ($x[r * $cols + j] - mean) * f * $g[j] + $o[j];
}
)";

Operation row_operation(const char* id, const char* title, const char* x, const char* y,
                        const char* rows, const char* cols) {
  Operation operation;
  operation.id = id;
  operation.title = title;
  operation.tier = 2;
  operation.axes = {{"rows", rows, NameKind::kRows}, {"cols", cols, NameKind::kColumns}};
  operation.inputs = {{"x", x, {"$rows", "$cols"}}};
  operation.outputs = {{"y", y, {"$rows", "$cols"}}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  return operation;
}

}  // namespace

Family rms_normalisation() {
  Operation operation =
      row_operation("rmsnorm_rows", "Row-wise RMS normalisation", "inp", "out", "R", "C");
  operation.prompt = "$y[r, :] = $x[r, :] / sqrt(mean($x[r, :]^2) + 1e-5)";
  operation.reference = "def run(x):\n    return x * torch.rsqrt((x * x).mean(1, True) + 1e-5)\n";
  operation.tolerance = {1e-4, 1e-5, "$cols"};
  return {
      "rms_normalisation",
      {operation},
      {{"thread",
        2,
        "one thread a row",
        kRmsThread,
        {{"B", {"32", "64", "64", "128", "128", "256"}}}},
       {"warp", 1, "coalesced: one warp a row, shuffles", kRmsWarp, {{"W", {"1", "2", "4", "8"}}}},
       {"block",
        3,
        "coalesced: one block a row, shared memory",
        kRmsBlock,
        {{"B", {"32", "64", "128", "256"}}}}}};
}

Family layer_normalisation() {
  Operation operation =
      row_operation("layernorm_rows", "Row-wise layer normalisation", "x", "y", "rows", "cols");
  operation.prompt =
      "$y[r, :] = ($x[r, :] - mean($x[r, :])) / sqrt(var($x[r, :]) + 1e-5) * $g + $o";
  operation.reference =
      "def run(x, g, o):\n    return torch.layer_norm(x, [x.size(1)], g, o, 1e-5)\n";
  operation.inputs.push_back({"g", "gamma", {"$cols"}});
  operation.inputs.push_back({"o", "beta", {"$cols"}});
  operation.tolerance = {1e-4, 1e-5, "$cols"};
  return {"layer_normalisation",
          {operation},
          {{"thread",
            2,
            "one thread a row",
            kLayerThread,
            {{"B", {"32", "64", "64", "128", "128", "256"}}}},
           {"warp",
            2,
            "coalesced: one warp a row, shuffles",
            kLayerWarp,
            {{"W", {"1", "2", "4", "8"}}}}}};
}

}  // namespace krl::templates
