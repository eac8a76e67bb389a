// task: matmul expect: ok|rejected
// Cuda_pipeline.h: __pipeline_memcpy_async.
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
#include <cuda_pipeline.h>
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[16][16], tb[16][16];
  int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float acc = 0;
  for (int t = 0; t < k; t += 16) {
    ta[threadIdx.y][threadIdx.x] = 0; tb[threadIdx.y][threadIdx.x] = 0;
    if (r < m && t + threadIdx.x < k) __pipeline_memcpy_async(&ta[threadIdx.y][threadIdx.x], &a[r * k + t + threadIdx.x], 4);
    if (j < n && t + threadIdx.y < k) __pipeline_memcpy_async(&tb[threadIdx.y][threadIdx.x], &b[(t + threadIdx.y) * n + j], 4);
    __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
    for (int e = 0; e < 16; ++e) acc += ta[threadIdx.y][e] * tb[e][threadIdx.x];
    __syncthreads();
  }
  if (r < m && j < n) c[r * n + j] = acc;
}
