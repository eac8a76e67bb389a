// Finds the largest (or smallest) element of every row; the first one if several are equal.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kArgmaxThread = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  int best = 0;
  for (int j = 1; j < $cols; j++)
    if ($x[r * $cols + j] $beats $x[r * $cols + best]) best = j;
  $y[r] = best;
}
)";

constexpr const char* kArgmaxWarp = R"(
// @launch kern<<<ceil_div($rows, $W), $(W * 32)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * $W + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= $rows) return;
  float v = $worst;
  int best = 0;
  for (int j = lane; j < $cols; j += 32)
    if ($x[r * $cols + j] $beats v) v = $x[r * $cols + j], best = j;
  for (int d = 16; d > 0; d /= 2) {
    float t = __shfl_xor_sync(0xffffffff, v, d);
    int j = __shfl_xor_sync(0xffffffff, best, d);
    if (t $beats v || (t == v && j < best)) v = t, best = j;
  }
  if (lane == 0) $y[r] = best;
}
)";

Operation argmax_operation(const char* id, const char* title, const char* function,
                           const char* which, const char* beats, const char* worst,
                           bool canonical) {
  Operation operation;
  operation.id = id;
  operation.title = title;
  operation.tier = 2;
  operation.canonical = canonical;
  operation.prompt =
      std::string("$y[r] = the smallest c for which $x[r, c] is the ") + which + " of $x[r, :]";
  operation.reference = std::string("def run(x):\n    return x.") + function + "(1)\n";
  operation.axes = {{"rows", "rows", NameKind::kRows}, {"cols", "cols", NameKind::kColumns}};
  operation.inputs = {{"x", "x", {"$rows", "$cols"}}};
  operation.outputs = {{"y", "y", {"$rows"}, DType::kInt32}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  operation.parts = {{"beats", beats}, {"worst", worst}};
  return operation;
}

}  // namespace

Family argmax() {
  return {"argmax",
          {argmax_operation("row_argmax", "Index of the maximum of every row", "argmax", "greatest",
                            ">", "-INFINITY", true),
           argmax_operation("row_argmin", "Index of the minimum of every row", "argmin", "least",
                            "<", "INFINITY", false)},
          {{"thread",
            2,
            "one thread a row",
            kArgmaxThread,
            {{"B", {"32", "64", "64", "128", "128", "256"}}}},
           {"warp",
            1,
            "coalesced: one warp a row, shuffles",
            kArgmaxWarp,
            {{"W", {"1", "2", "4", "8"}}}}}};
}

}  // namespace krl::templates
