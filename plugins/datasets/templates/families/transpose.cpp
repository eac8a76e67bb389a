// Rows become columns.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kRead = R"(
// @launch kern<<<ceil_div($rows * $cols, $B), $B>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i < $rows * $cols) $y[($i % $cols) * $rows + $i / $cols] = $x[$i];
}
)";

constexpr const char* kWrite = R"(
// @launch kern<<<ceil_div($rows * $cols, $B), $B>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i < $rows * $cols) $y[$i] = $x[($i % $rows) * $cols + $i / $rows];
}
)";

constexpr const char* kRow = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < $rows)
    for (int j = 0; j < $cols; j++) $y[j * $rows + r] = $x[r * $cols + j];
}
)";

// `$P` is the length of a row of the tile: one more than its width spreads a column over the banks.
constexpr const char* kTransposeTile = R"(
// @launch kern<<<dim3(ceil_div($cols, $T), ceil_div($rows, $T)), dim3($T, $T)>>>($args)
__global__ void kern($params) {
  __shared__ float tile[$T][$P];
  int c0 = blockIdx.x * $T, r0 = blockIdx.y * $T;
  int tx = threadIdx.x, ty = threadIdx.y;
  if (r0 + ty < $rows && c0 + tx < $cols) tile[ty][tx] = $x[(r0 + ty) * $cols + c0 + tx];
  __syncthreads();
  if (c0 + ty < $cols && r0 + tx < $rows) $y[(c0 + ty) * $rows + r0 + tx] = tile[tx][ty];
}
)";

const Choices kTransposeIndex = {{"i", {"i", "idx", "gid", "e"}},
                                 {"B", {"32", "64", "64", "128", "128", "256", "512"}}};

}  // namespace

Family transpose() {
  Operation operation;
  operation.id = "transpose";
  operation.title = "Transpose of a matrix";
  operation.tier = 1;
  operation.prompt = "$y[c, r] = $x[r, c]";
  operation.reference = "def run(x):\n    return x.t().contiguous()\n";
  operation.axes = {{"rows", "rows", NameKind::kRows}, {"cols", "cols", NameKind::kColumns}};
  operation.inputs = {{"x", "x", {"$rows", "$cols"}}};
  operation.outputs = {{"y", "y", {"$cols", "$rows"}}};
  operation.cases = {{{"rows", 37}, {"cols", 21}}, {{"rows", 40}, {"cols", 36}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  operation.tolerance = {0.0, 0.0};
  return {"transpose",
          {operation},
          {{"read", 2, "one thread an element, reads in order", kRead, kTransposeIndex},
           {"write", 1, "one thread an element, writes in order", kWrite, kTransposeIndex},
           {"row", 1, "one thread a row", kRow, {{"B", {"32", "64", "128", "256"}}}},
           {"tile",
            1,
            "a tile in shared memory: both sides in order",
            kTransposeTile,
            {{"T", {"8", "16", "16", "32"}}, {"P", {"$T"}}}},
           {"padded_tile",
            1,
            "a padded tile: both sides in order, no bank conflicts",
            kTransposeTile,
            {{"T", {"8", "16", "16", "32"}}, {"P", {"$(T + 1)"}}}}}};
}

}  // namespace krl::templates
