// One number from every row of a matrix.
#include "plugins/datasets/templates/families/reduction_text.hpp"
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kRowReductionThread = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  float acc = $init;
  for (int j = 0; j < $cols; j++) $step;
  $y[r] = $result;
}
)";

constexpr const char* kRowReductionWarp = R"(
// @launch kern<<<ceil_div($rows, $W), $(W * 32)>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * $W + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= $rows) return;
  float acc = $init;
  for (int j = lane; j < $cols; j += 32) $step;
  for (int d = 16; d > 0; d /= 2) $shuffle;
  if (lane == 0) $y[r] = $result;
}
)";

constexpr const char* kRowReductionBlock = R"(
// @launch kern<<<$rows, $B>>>($args)
__global__ void kern($params) {
  __shared__ float sh[$B];
  int r = blockIdx.x;
  float acc = $init;
  for (int j = threadIdx.x; j < $cols; j += $B) $step;
  sh[threadIdx.x] = acc;
  __syncthreads();
  for (int d = $(B / 2); d > 0; d /= 2) {
    if (threadIdx.x < d) $merge;
    __syncthreads();
  }
  acc = sh[0];
  if (threadIdx.x == 0) $y[r] = $result;
}
)";

struct Names {
  const char *x, *y, *rows, *cols;
};

Operation row_reduction_operation(const char* id, const char* title, const Names& names,
                                  const char* prompt, const char* reference, Reduce reduce,
                                  const char* element, const char* result, Tolerance tolerance,
                                  bool canonical = true) {
  Operation operation;
  operation.id = id;
  operation.title = title;
  operation.tier = 1;
  operation.canonical = canonical;
  operation.prompt = std::string("$y[r] = ") + prompt;
  operation.reference = std::string("def run(x):\n    return ") + reference + "\n";
  operation.axes = {{"rows", names.rows, NameKind::kRows},
                    {"cols", names.cols, NameKind::kColumns}};
  operation.inputs = {{"x", names.x, {"$rows", "$cols"}}};
  operation.outputs = {{"y", names.y, {"$rows"}}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  operation.tolerance = tolerance;
  operation.parts = reduction_parts(reduce, element);
  operation.parts["v"] = "$x[r * $cols + j]";
  operation.parts["result"] = result;
  return operation;
}

}  // namespace

Family row_reduction() {
  const Tolerance exact{0.0, 0.0}, summed{1e-6, 1e-6, "$cols"};
  Family family{"row_reduction", {}, {}};
  family.operations = {
      row_reduction_operation("row_sum", "Sum of every row", {"x", "y", "rows", "cols"},
                              "sum($x[r, :])", "x.sum(1)", Reduce::kSum, "$v", "acc", summed),
      row_reduction_operation("row_max", "Maximum of every row", {"src", "dst", "m", "n"},
                              "max($x[r, :])", "x.amax(1)", Reduce::kMax, "$v", "acc", exact),
      row_reduction_operation("row_mean", "Mean of every row", {"data", "out", "h", "w"},
                              "mean($x[r, :])", "x.mean(1)", Reduce::kSum, "$v", "acc / $cols",
                              summed),
      row_reduction_operation("row_min", "Minimum of every row", {"x", "y", "rows", "cols"},
                              "min($x[r, :])", "x.amin(1)", Reduce::kMin, "$v", "acc", exact,
                              false),
      row_reduction_operation("row_norm", "Euclidean norm of every row", {"x", "y", "rows", "cols"},
                              "sqrt(sum($x[r, :]^2))", "(x * x).sum(1).sqrt()", Reduce::kSum,
                              "$v * $v", "sqrtf(acc)", summed, false),
  };
  family.variants = {
      {"thread",
       2,
       "one thread a row",
       kRowReductionThread,
       {{"B", {"32", "64", "64", "128", "128", "256"}}}},
      {"warp",
       1,
       "coalesced: one warp a row, shuffles",
       kRowReductionWarp,
       {{"W", {"1", "2", "4", "8"}}}},
      {"block",
       3,
       "coalesced: one block a row, a tree in shared memory",
       kRowReductionBlock,
       {{"B", {"32", "64", "128", "256"}}}},
  };
  return family;
}

}  // namespace krl::templates
