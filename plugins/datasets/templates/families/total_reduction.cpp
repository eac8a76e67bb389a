// One number from a whole vector.
#include "plugins/datasets/templates/families/reduction_text.hpp"
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

// A thread for each stretch of 512, then for each stretch of their results, then for all: enough
// for 512 * 512 * 512.
constexpr const char* kTotalReductionStretches = R"(
// @scratch part float[ceil_div($n, 512)]
// @scratch rest float[ceil_div($n, 262144)]
// @launch kern<<<ceil_div(part.size, 128), 128>>>($x, part, $n)
// @launch kern<<<ceil_div(rest.size, 128), 128>>>(part, rest, part.size)
// @launch kern<<<1, 128>>>(rest, $y, rest.size)
__global__ void kern(const float* $x, float* $y, int $n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t * 512 >= $n) return;
  float acc = $init;
  for (int j = t * 512; j < $n && j < t * 512 + 512; j++) $step;
  $y[t] = acc;
}
)";

// The same for a product, whose partial results are only added up.
constexpr const char* kDotStretches = R"(
// @scratch part float[ceil_div($n, 512)]
// @scratch rest float[ceil_div($n, 262144)]
// @launch kern<<<ceil_div(part.size, 128), 128>>>($x, $z, part, $n)
// @launch add_up<<<ceil_div(rest.size, 128), 128>>>(part, rest, part.size)
// @launch add_up<<<1, 128>>>(rest, $y, rest.size)
__global__ void kern(const float* $x, const float* $z, float* part, int $n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t * 512 >= $n) return;
  float acc = 0.0f;
  for (int j = t * 512; j < $n && j < t * 512 + 512; j++) $step;
  part[t] = acc;
}
__global__ void add_up(const float* part, float* $y, int size) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t * 512 >= size) return;
  float acc = 0.0f;
  for (int j = t * 512; j < size && j < t * 512 + 512; j++) acc += part[j];
  $y[t] = acc;
}
)";

constexpr const char* kTotalReductionWarp = R"(
// @launch kern<<<1, 32>>>($args)
__global__ void kern($params) {
  float acc = $init;
  for (int j = threadIdx.x; j < $n; j += 32) $step;
  for (int d = 16; d > 0; d /= 2) $shuffle;
  if (threadIdx.x == 0) $y[0] = acc;
}
)";

constexpr const char* kTotalReductionBlock = R"(
// @launch kern<<<1, $B>>>($args)
__global__ void kern($params) {
  __shared__ float sh[$B];
  float acc = $init;
  for (int j = threadIdx.x; j < $n; j += $B) $step;
  sh[threadIdx.x] = acc;
  __syncthreads();
  for (int d = $(B / 2); d > 0; d /= 2) {
    if (threadIdx.x < d) $merge;
    __syncthreads();
  }
  if (threadIdx.x == 0) $y[0] = sh[0];
}
)";

// The same kernel twice: over the blocks, then over their partial results.
constexpr const char* kTwoStages = R"(
// @scratch part float[$G]
// @launch kern<<<$G, $B>>>($x, part, $n)
// @launch kern<<<1, $B>>>(part, $y, $G)
__global__ void kern(const float* $x, float* $y, int $n) {
  __shared__ float sh[$B];
  float acc = $init;
  for (int j = blockIdx.x * $B + threadIdx.x; j < $n; j += gridDim.x * $B) $step;
  sh[threadIdx.x] = acc;
  __syncthreads();
  for (int d = $(B / 2); d > 0; d /= 2) {
    if (threadIdx.x < d) $merge;
    __syncthreads();
  }
  if (threadIdx.x == 0) $y[blockIdx.x] = sh[0];
}
)";

constexpr const char* kTwoStagesOfWarps = R"(
// @scratch part float[$G]
// @launch kern<<<$G, 32>>>($x, part, $n)
// @launch kern<<<1, 32>>>(part, $y, $G)
__global__ void kern(const float* $x, float* $y, int $n) {
  float acc = $init;
  for (int j = blockIdx.x * 32 + threadIdx.x; j < $n; j += gridDim.x * 32) $step;
  for (int d = 16; d > 0; d /= 2) $shuffle;
  if (threadIdx.x == 0) $y[blockIdx.x] = acc;
}
)";

// A product needs a second kernel for the sum of the blocks' results.
constexpr const char* kDotTwoStages = R"(
// @scratch part float[$G]
// @launch kern<<<$G, 32>>>($x, $z, part, $n)
// @launch last<<<1, 32>>>(part, $y, $G)
__global__ void kern(const float* $x, const float* $z, float* part, int $n) {
  float acc = 0.0f;
  for (int j = blockIdx.x * 32 + threadIdx.x; j < $n; j += gridDim.x * 32) $step;
  for (int d = 16; d > 0; d /= 2) $shuffle;
  if (threadIdx.x == 0) part[blockIdx.x] = acc;
}
__global__ void last(const float* part, float* $y, int size) {
  float acc = 0.0f;
  for (int j = threadIdx.x; j < size; j += 32) acc += part[j];
  for (int d = 16; d > 0; d /= 2) $shuffle;
  if (threadIdx.x == 0) $y[0] = acc;
}
)";

const Choices kTotalReductionBlocks = {{"B", {"64", "128", "256", "512"}}};
const Choices kGrids = {{"G", {"8", "16", "32", "64"}}};
const Choices kGridsAndBlocks = {{"B", {"64", "128", "256", "512"}},
                                 {"G", {"8", "16", "32", "64"}}};

Operation total_reduction_operation(const char* id, const char* title, const char* x, const char* y,
                                    const char* n, const char* prompt, const char* reference,
                                    Reduce reduce, const char* element, Tolerance tolerance,
                                    bool canonical = true) {
  Operation operation;
  operation.id = id;
  operation.title = title;
  operation.tier = 1;
  operation.canonical = canonical;
  operation.prompt = std::string("$y[0] = ") + prompt;
  operation.reference = std::string("def run(x):\n    return ") + reference + ".reshape(1)\n";
  operation.axes = {{"n", n, NameKind::kLength}};
  operation.inputs = {{"x", x, {"$n"}}};
  operation.outputs = {{"y", y, {"1"}}};
  operation.cases = {{{"n", 517}}, {{"n", 1600}}};
  operation.real = {{{"n", 1 << 24}}};
  operation.tolerance = tolerance;
  operation.parts = reduction_parts(reduce, element);
  return operation;
}

}  // namespace

Family total_reduction() {
  Family family{"total_reduction", {}, {}};
  family.operations = {
      total_reduction_operation("total_sum", "Sum of a vector", "x", "y", "n", "sum($x[:])",
                                "x.sum()", Reduce::kSum, "$x[j]", {1e-6, 1e-6, "$n"}),
      total_reduction_operation("total_max", "Maximum of a vector", "a", "res", "N", "max($x[:])",
                                "x.max()", Reduce::kMax, "$x[j]", {0.0, 0.0}),
      total_reduction_operation("total_min", "Minimum of a vector", "x", "y", "n", "min($x[:])",
                                "x.min()", Reduce::kMin, "$x[j]", {0.0, 0.0}, false),
  };
  family.variants = {
      {"stretches", 1, "a thread for each stretch, three times", kTotalReductionStretches},
      {"warp", 1, "one warp, shuffles", kTotalReductionWarp},
      {"block", 2, "one block, a tree in shared memory", kTotalReductionBlock,
       kTotalReductionBlocks},
      {"two_stages", 2, "all multiprocessors: partial results, then one block", kTwoStages,
       kGridsAndBlocks},
      {"two_stages_of_warps", 1, "all multiprocessors: partial results by shuffles",
       kTwoStagesOfWarps, kGrids},
  };
  return family;
}

Family dot_product() {
  Operation dot =
      total_reduction_operation("dot", "Dot product", "p", "out", "len", "sum($x[:] * $z[:])", "",
                                Reduce::kSum, "$x[j] * $z[j]", {1e-6, 1e-6, "$n"});
  dot.reference = "def run(x, z):\n    return (x * z).sum().reshape(1)\n";
  dot.inputs.push_back({"z", "q", {"$n"}});
  return {"dot_product",
          {dot},
          {{"stretches", 1, "a thread for each stretch, three times", kDotStretches},
           {"warp", 1, "one warp, shuffles", kTotalReductionWarp},
           {"block", 2, "one block, a tree in shared memory", kTotalReductionBlock,
            kTotalReductionBlocks},
           {"two_stages", 2, "all multiprocessors: partial results by shuffles", kDotTwoStages,
            kGrids}}};
}

}  // namespace krl::templates
