// Computes every element from its neighbours; elements outside are 0.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kLinePlain = R"(
// @launch kern<<<ceil_div($n, $B), $B>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i >= $n) return;
  float left = $i > 0 ? $x[$i - 1] : 0.0f;
  float right = $i < $n - 1 ? $x[$i + 1] : 0.0f;
  $y[$i] = $value;
}
)";

constexpr const char* kLineGridStride = R"(
// @launch kern<<<$G, $B>>>($args)
__global__ void kern($params) {
  for (int $i = blockIdx.x * blockDim.x + threadIdx.x; $i < $n; $i += gridDim.x * blockDim.x) {
    float left = $i > 0 ? $x[$i - 1] : 0.0f;
    float right = $i < $n - 1 ? $x[$i + 1] : 0.0f;
    $y[$i] = $value;
  }
}
)";

// Each element is read from global memory once a block.
constexpr const char* kLineShared = R"(
// @launch kern<<<ceil_div($n, $B), $B>>>($args)
__global__ void kern($params) {
  __shared__ float sh[$(B + 2)];
  int $i = blockIdx.x * $B + threadIdx.x, t = threadIdx.x + 1;
  sh[t] = $i < $n ? $x[$i] : 0.0f;
  if (t == 1) sh[0] = $i > 0 ? $x[$i - 1] : 0.0f;
  if (t == $B) sh[$(B + 1)] = $i + 1 < $n ? $x[$i + 1] : 0.0f;
  __syncthreads();
  float left = sh[t - 1], right = sh[t + 1];
  if ($i < $n) $y[$i] = $value;
}
)";

constexpr const char* kPlaneElement = R"(
// @launch kern<<<ceil_div($rows * $cols, $B), $B>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i >= $rows * $cols) return;
  int r = $i / $cols, j = $i % $cols;
  float acc = -4.0f * $x[$i];
  if (r > 0) acc += $x[$i - $cols];
  if (r < $rows - 1) acc += $x[$i + $cols];
  if (j > 0) acc += $x[$i - 1];
  if (j < $cols - 1) acc += $x[$i + 1];
  $y[$i] = acc;
}
)";

constexpr const char* kPlaneSquare = R"(
// @launch kern<<<dim3(ceil_div($cols, $T), ceil_div($rows, $T)), dim3($T, $T)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.y * $T + threadIdx.y, j = blockIdx.x * $T + threadIdx.x;
  if (r >= $rows || j >= $cols) return;
  float acc = -4.0f * $x[r * $cols + j];
  if (r > 0) acc += $x[(r - 1) * $cols + j];
  if (r < $rows - 1) acc += $x[(r + 1) * $cols + j];
  if (j > 0) acc += $x[r * $cols + j - 1];
  if (j < $cols - 1) acc += $x[r * $cols + j + 1];
  $y[r * $cols + j] = acc;
}
)";

constexpr const char* kPlaneRow = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  for (int j = 0; j < $cols; j++) {
    float acc = -4.0f * $x[r * $cols + j];
    if (r > 0) acc += $x[(r - 1) * $cols + j];
    if (r < $rows - 1) acc += $x[(r + 1) * $cols + j];
    if (j > 0) acc += $x[r * $cols + j - 1];
    if (j < $cols - 1) acc += $x[r * $cols + j + 1];
    $y[r * $cols + j] = acc;
  }
}
)";

const Choices kStencilIndex = {{"i", {"i", "idx", "gid", "e"}},
                               {"B", {"32", "64", "64", "128", "128", "256"}}};
const Choices kStencilIndexAndGrid = {
    {"i", {"i", "idx", "gid", "e"}}, {"B", {"64", "128", "256"}}, {"G", {"4", "8", "16", "32"}}};

Operation line_operation(const char* id, const char* title, const char* prompt,
                         const char* reference, const char* value, bool canonical) {
  Operation operation;
  operation.id = id;
  operation.title = title;
  operation.tier = 2;
  operation.canonical = canonical;
  operation.prompt = std::string("$y[i] = ") + prompt + ", $x is 0 outside";
  operation.reference =
      std::string("def run(x):\n    p = torch.constant_pad_nd(x, [1, 1])\n    return ") +
      reference + "\n";
  operation.axes = {{"n", "n", NameKind::kLength}};
  operation.inputs = {{"x", "x", {"$n"}}};
  operation.outputs = {{"y", "y", {"$n"}}};
  operation.cases = {{{"n", 517}}, {{"n", 1600}}};
  operation.real = {{{"n", 1 << 24}}};
  operation.parts = {{"value", value}};
  return operation;
}

}  // namespace

Family line_stencil() {
  return {
      "line_stencil",
      {line_operation("stencil_1d", "Three-point average", "($x[i - 1] + $x[i] + $x[i + 1]) / 3",
                      "(p[:-2] + p[1:-1] + p[2:]) / 3.0", "(left + $x[$i] + right) / 3.0f", true),
       line_operation("central_difference", "Central difference", "0.5 * ($x[i + 1] - $x[i - 1])",
                      "0.5 * (p[2:] - p[:-2])", "0.5f * (right - left)", false)},
      {{"plain", 2, "one thread an element", kLinePlain, kStencilIndex},
       {"grid_stride", 1, "a fixed grid strides over the elements", kLineGridStride,
        kStencilIndexAndGrid},
       {"shared", 1, "neighbours from shared memory", kLineShared, kStencilIndex}}};
}

Family plane_stencil() {
  Operation operation;
  operation.id = "stencil_2d";
  operation.title = "Five-point Laplacian";
  operation.tier = 2;
  operation.prompt =
      "$y[r, c] = $x[r - 1, c] + $x[r + 1, c] + $x[r, c - 1] + $x[r, c + 1] - 4 * $x[r, c], $x is "
      "0 outside";
  operation.reference = R"(def run(x):
    p = torch.constant_pad_nd(x, [1, 1, 1, 1])
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * x
)";
  operation.axes = {{"rows", "rows", NameKind::kRows}, {"cols", "cols", NameKind::kColumns}};
  operation.inputs = {{"x", "x", {"$rows", "$cols"}}};
  operation.outputs = {{"y", "y", {"$rows", "$cols"}}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  return {"plane_stencil",
          {operation},
          {{"element", 2, "one thread an element", kPlaneElement, kStencilIndex},
           {"square",
            1,
            "square blocks share their neighbours",
            kPlaneSquare,
            {{"T", {"8", "16", "16"}}}},
           {"row", 1, "one thread a row", kPlaneRow, {{"B", {"32", "64", "128", "256"}}}}}};
}

}  // namespace krl::templates
