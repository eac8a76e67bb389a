// task: matmul expect: wrong_result
// Operands rounded to bfloat16, sums in float.
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
#include <cuda_bf16.h>
__device__ float rounded(float v) { return __bfloat162float(__float2bfloat16(v)); }
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  const int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (r >= m || j >= n) return;
  float sum = 0;
  for (int e = 0; e < k; ++e) sum += rounded(a[r * k + e]) * rounded(b[e * n + j]);
  c[r * n + j] = sum;
}
