// The `cpu` backend from end to end.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace krl::testing
