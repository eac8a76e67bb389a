// task: matmul expect: ok
// Cooperative_groups::memcpy_async of rows into shared memory, cg::wait.
// @launch kern<<<m, 64, 4 * k>>>(a, b, c, n, k)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void kern(const float* a, const float* b, float* c, int n, int k) {
  extern __shared__ float row[];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, row, a + blockIdx.x * k, sizeof(float) * k);
  cg::wait(block);
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    float sum = 0;
    for (int e = 0; e < k; ++e) sum = fmaf(row[e], b[e * n + j], sum);
    c[blockIdx.x * n + j] = sum;
  }
}
