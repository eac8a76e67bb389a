// Counts how often every key occurs.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kBinThread = R"(
// @launch kern<<<ceil_div($bins, $T), $T>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i >= $bins) return;
  int acc = 0;
  for (int j = 0; j < $n; j++) acc += $x[j] == $i;
  $y[$i] = acc;
}
)";

constexpr const char* kGlobalAtomics = R"(
// @launch zero<<<ceil_div($bins, 32), 32>>>($y, $bins)
// @launch kern<<<ceil_div($n, $B), $B>>>($x, $y, $n)
__global__ void zero(int* $y, int $bins) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i < $bins) $y[$i] = 0;
}
__global__ void kern(const int* $x, int* $y, int $n) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i < $n) atomicAdd(&$y[$x[$i]], 1);
}
)";

constexpr const char* kSharedAtomics = R"(
// @launch kern<<<1, $B>>>($args)
__global__ void kern($params) {
  __shared__ int sh[$count];
  for (int j = threadIdx.x; j < $bins; j += $B) sh[j] = 0;
  __syncthreads();
  for (int j = threadIdx.x; j < $n; j += $B) atomicAdd(&sh[$x[j]], 1);
  __syncthreads();
  for (int j = threadIdx.x; j < $bins; j += $B) $y[j] = sh[j];
}
)";

}  // namespace

Family histogram() {
  Operation operation;
  operation.id = "histogram";
  operation.title = "Histogram of integer keys";
  operation.tier = 1;
  operation.prompt = "$y[b] = the number of i with $x[i] == b";
  operation.reference = "def run(keys):\n    return torch.bincount(keys, minlength=48)\n";
  operation.axes = {{"n", "n", NameKind::kLength}, {"bins", "bins", NameKind::kInner, "48"}};
  operation.inputs = {{"x", "keys", {"$n"}, DType::kInt32, ValueKind::kIntegers, {"0", "$bins"}}};
  operation.outputs = {{"y", "counts", {"$bins"}, DType::kInt32}};
  operation.cases = {{{"n", 517}}, {{"n", 1600}}};
  operation.real = {{{"n", 1 << 24}}};
  operation.parts = {{"count", "48"}};
  const Choices index = {{"i", {"i", "idx", "gid", "e"}}, {"B", {"64", "128", "256"}}};
  return {"histogram",
          {operation},
          {{"global_atomics", 2, "one thread a key, atomics on the counts", kGlobalAtomics, index},
           {"bin_thread",
            1,
            "one thread a bin",
            kBinThread,
            {{"i", {"i", "idx", "gid"}}, {"T", {"16", "32"}}}},
           {"shared_atomics",
            2,
            "one block counts in shared memory",
            kSharedAtomics,
            {{"B", {"64", "128", "256", "512"}}}}}};
}

}  // namespace krl::templates
