// task: matmul expect: wrong_result
// Products and sums in half precision.
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
#include <cuda_fp16.h>
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  const int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (r >= m || j >= n) return;
  __half sum = __float2half(0.0f);
  for (int e = 0; e < k; ++e) sum = __hfma(__float2half(a[r * k + e]), __float2half(b[e * n + j]), sum);
  c[r * n + j] = __half2float(sum);
}
