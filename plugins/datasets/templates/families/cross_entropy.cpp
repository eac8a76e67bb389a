// The negative logarithm of the softmax at every row's label.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

constexpr const char* kCrossEntropyThread = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  float m0 = -INFINITY;
  for (int j = 0; j < $cols; j++) m0 = fmaxf(m0, $x[r * $cols + j]);
  float m1 = 0.0f;
  for (int j = 0; j < $cols; j++) m1 += expf($x[r * $cols + j] - m0);
  $y[r] = logf(m1) + m0 - $x[r * $cols + $t[r]];
}
)";

constexpr const char* kCrossEntropyWarp = R"(
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
  if (lane == 0) $y[r] = logf(m1) + m0 - $x[r * $cols + $t[r]];
}
)";

}  // namespace

Family cross_entropy() {
  Operation operation;
  operation.id = "cross_entropy";
  operation.title = "Cross entropy of integer labels";
  operation.tier = 3;
  operation.prompt = "$y[r] = log(sum(exp($x[r, :]))) - $x[r, $t[r]]";
  operation.reference = R"(def run(x, t):
    at_label = torch.arange(x.size(1)) == t.unsqueeze(1)
    return torch.logsumexp(x, 1) - (x * at_label).sum(1)
)";
  operation.axes = {{"rows", "rows", NameKind::kRows}, {"cols", "cols", NameKind::kColumns}};
  operation.inputs = {
      {"x", "logits", {"$rows", "$cols"}},
      {"t", "labels", {"$rows"}, DType::kInt32, ValueKind::kIntegers, {"0", "$cols"}}};
  operation.outputs = {{"y", "loss", {"$rows"}}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  operation.tolerance = {1e-5, 1e-6, "$cols"};
  return {"cross_entropy",
          {operation},
          {{"thread",
            2,
            "one thread a row",
            kCrossEntropyThread,
            {{"B", {"32", "64", "64", "128", "128", "256"}}}},
           {"warp",
            1,
            "coalesced: one warp a row, shuffles",
            kCrossEntropyWarp,
            {{"W", {"1", "2", "4", "8"}}}}}};
}

}  // namespace krl::templates
