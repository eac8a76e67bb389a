// The product of two matrices.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kMatmulPlain = R"(
// @launch kern<<<dim3(ceil_div($n, $T), ceil_div($m, $T)), dim3($T, $T)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < $m && j < $n) {
    float acc = 0.0f;
    for (int e = 0; e < $k; e++) acc += $a[r * $k + e] * $b[e * $n + j];
    $c[r * $n + j] = acc;
  }
}
)";

// The threads of a warp walk down a column: neither b nor c is read or written in order.
constexpr const char* kSwapped = R"(
// @launch kern<<<dim3(ceil_div($m, $T), ceil_div($n, $T)), dim3($T, $T)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < $m && j < $n) {
    float acc = 0.0f;
    for (int e = 0; e < $k; e++) acc += $a[r * $k + e] * $b[e * $n + j];
    $c[r * $n + j] = acc;
  }
}
)";

constexpr const char* kMatmulTile = R"(
// @launch kern<<<dim3(ceil_div($n, $T), ceil_div($m, $T)), dim3($T, $T)>>>($args)
__global__ void kern($params) {
  __shared__ float sa[$T][$T], sb[$T][$T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int r = blockIdx.y * $T + ty, j = blockIdx.x * $T + tx;
  float acc = 0.0f;
  for (int e = 0; e < $k; e += $T) {
    sa[ty][tx] = r < $m && e + tx < $k ? $a[r * $k + e + tx] : 0.0f;
    sb[ty][tx] = e + ty < $k && j < $n ? $b[(e + ty) * $n + j] : 0.0f;
    __syncthreads();
    for (int d = 0; d < $T; d++) acc += sa[ty][d] * sb[d][tx];
    __syncthreads();
  }
  if (r < $m && j < $n) $c[r * $n + j] = acc;
}
)";

}  // namespace

Family matmul() {
  Operation operation;
  operation.id = "matmul";
  operation.title = "Matrix multiplication";
  operation.tier = 2;
  operation.prompt = "$c = $a @ $b";
  operation.reference = "def run(a, b):\n    return torch.matmul(a, b)\n";
  operation.axes = {
      {"m", "m", NameKind::kRows}, {"n", "n", NameKind::kColumns}, {"k", "k", NameKind::kInner}};
  operation.inputs = {{"a", "a", {"$m", "$k"}}, {"b", "b", {"$k", "$n"}}};
  operation.outputs = {{"c", "c", {"$m", "$n"}}};
  operation.cases = {{{"m", 9}, {"n", 11}, {"k", 13}}, {{"m", 36}, {"n", 32}, {"k", 24}}};
  operation.real = {{{"m", 1024}, {"n", 1024}, {"k", 1024}}};
  operation.tolerance = {1e-6, 1e-6, "$k"};
  const Choices tiles = {{"T", {"8", "16", "16"}}};
  return {"matmul",
          {operation},
          {{"plain", 2, "one thread an element", kMatmulPlain, tiles},
           {"swapped", 1, "one thread an element, rows first", kSwapped, tiles},
           {"tile", 2, "tiles in shared memory: every element is read once a tile", kMatmulTile,
            tiles}}};
}

}  // namespace krl::templates
