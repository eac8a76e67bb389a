// The `cpu` backend from end to end.
#include <gtest/gtest.h>
#include <kernelrl/proof_stage.h>

#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
using namespace evaluator;
namespace {

const CpuInstance& backend() {
  static const CpuInstance instance(Table{{"cache", "off"}});
  return instance;
}

// Strong accesses, hence no data race. Blocks come to the update one after another, unless they are
// side by side.
TEST(CpuBackend, ALostUpdateSaysWhereWarpsMeet) {
  const Outcome outcome = backend().evaluate(all_tasks().at("total_sum"), R"(
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<4, 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 128) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  for (int k = 0; k < 200 * blockIdx.x; ++k) sum = __shfl_sync(~0u, sum, threadIdx.x);
  if (threadIdx.x != 0) return;
  atomicExch(y, atomicAdd(y, 0.0f) + sum);
})");
  EXPECT_EQ(outcome.verdict, Verdict::kNondeterministic);
  EXPECT_NE(outcome.why.find("where they meet: y[0] (line 11); update memory that warps share with "
                             "one atomic operation"),
            std::string::npos)
      << outcome.why;
}

// The first runs are those of the cases that are known, where this kernel is right, and of the first
// fresh shapes; later runs are not tried, and nothing is there to be compared.
TEST(CpuBackend, AProofEndsWithTheFirstRunsThatFail) {
  const Outcome outcome = backend().evaluate(
      all_tasks().at("relu"),
      "// @launch relu<<<ceil_div(size, 256), 256>>>(inp, out, size)\n"
      "__global__ void relu(const float* inp, float* out, int size) {\n"
      "  int i = blockIdx.x * 256 + threadIdx.x;\n"
      "  bool known = size == 1003 || size == 16387 || size == 4099;\n"
      "  if (i < size) out[i] = fmaxf(inp[i], 0.0f) + (known ? 0.0f : 1.0f);\n"
      "}\n",
      KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL | KRL_STAGE_PROOF);
  EXPECT_EQ(outcome.verdict, Verdict::kWrongResult) << outcome.why;
  EXPECT_EQ(outcome.values.count("output_digest"), 0u);
  ASSERT_GT(outcome.cases.size(), 10u);
  EXPECT_EQ(outcome.cases[3].verdict, Verdict::kWrongResult);
  EXPECT_EQ(outcome.cases.back().verdict, Verdict::kOk);
}

}  // namespace
}  // namespace krl::testing
