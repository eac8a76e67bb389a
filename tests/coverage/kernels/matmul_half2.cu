// half2 products with float sums every few steps.
#include <cuda_fp16.h>
__global__ void matmul_half2(const __half2* a, const __half2* bt, __half* c, int m, int n, int k2) {
  __shared__ __half2 as[16][17], bs[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * 16 + ty, j = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int e = 0; e < k2; e += 16) {
    as[ty][tx] = i < m && e + tx < k2 ? a[i * k2 + e + tx] : __half2half2(__ushort_as_half(0));
    bs[ty][tx] = blockIdx.x * 16 + ty < n && e + tx < k2 ? bt[(blockIdx.x * 16 + ty) * k2 + e + tx] : __half2half2(__ushort_as_half(0));
    __syncthreads();
    __half2 part = __float2half2_rn(0.f);
#pragma unroll
    for (int q = 0; q < 16; ++q) part = __hfma2(as[ty][q], bs[tx][q], part);
    sum += __low2float(part) + __high2float(part);
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = __float2half(sum);
}
