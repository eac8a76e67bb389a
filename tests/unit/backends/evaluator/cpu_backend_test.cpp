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

TEST(CpuBackend, ALostUpdateSaysWhereWarpsMeet) {
  const Outcome outcome = backend().evaluate(all_tasks().at("total_sum"), R"(
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<ceil_div(n, 512), 32>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 512 + threadIdx.x; i < min(n, (blockIdx.x + 1) * 512); i += 32) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  __threadfence();
  y[0] += sum;
  __threadfence();
})");
  EXPECT_EQ(outcome.verdict, Verdict::kNondeterministic);
  EXPECT_NE(outcome.why.find("where they meet: y[0] (line 11); update memory that warps share with "
                             "one atomic operation"),
            std::string::npos)
      << outcome.why;
}

}  // namespace
}  // namespace krl::testing
