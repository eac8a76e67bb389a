// task: matmul expect: ok
// Operands split into three bfloat16 each, products in float.
// @launch kern<<<dim3(ceil_div(n, 32), m), 32>>>(a, b, c, n, k)
#include <cuda_bf16.h>
struct Split { __nv_bfloat16 p[3]; };
__device__ __forceinline__ Split split(float v) {
  Split s;
#pragma unroll
  for (int i = 0; i < 3; ++i) { s.p[i] = __float2bfloat16(v); v -= __bfloat162float(s.p[i]); }
  return s;
}
__global__ void kern(const float* a, const float* b, float* c, int n, int k) {
  const int j = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y;
  if (j >= n) return;
  float sum = 0;
  for (int e = 0; e < k; ++e) {
    const Split x = split(a[r * k + e]), y = split(b[e * n + j]);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int l = 0; l + i < 3; ++l) sum += __bfloat162float(x.p[i]) * __bfloat162float(y.p[l]);
  }
  c[r * n + j] = sum;
}
